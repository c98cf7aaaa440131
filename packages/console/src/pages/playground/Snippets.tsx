/** The request as code, and the response. */
import { useState } from "react"
import type { CreateGenerationRequest, Generation, Kind } from "../../api/types.ts"
import { Code } from "../../components/Code.tsx"
import { CopyButton } from "../../components/Copy.tsx"
import { Tabs } from "../../components/Tabs.tsx"
import { languages, snippet } from "./snippets.ts"

const tabs = [...languages, ["response", "Response"]] as const

/** Code with the values of the form, in three languages, and the job as JSON. */
export const Snippets = ({ job, kind, request }: {
  readonly request: CreateGenerationRequest
  readonly kind: Kind
  readonly job: Generation | undefined
}) => {
  const [tab, setTab] = useState<typeof tabs[number][0]>("curl")
  const prompt = request.params.prompt === "" ? "a lighthouse at dusk" : request.params.prompt
  const text = tab !== "response"
    ? snippet(tab, { ...request, params: { ...request.params, prompt } }, kind, location.origin)
    : job === undefined
    ? "The job appears here once you generate."
    : JSON.stringify(job, null, 2)
  return (
    <section aria-label="Code" className="card overflow-hidden">
      <Tabs label="Language" look="pill" tabs={tabs} value={tab} onChange={setTab} aside={<CopyButton text={text} />}>
        <Code label={tab === "response" ? "Response" : "Request"} text={text} />
      </Tabs>
    </section>
  )
}
