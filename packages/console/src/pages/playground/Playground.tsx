/** The playground: request form with price, live progress, result and code. */
import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useEffect } from "react"
import { kinora } from "../../api/call.ts"
import { problemOf } from "../../api/problem.ts"
import { accountQuery, modelsQuery, sessionQuery } from "../../api/queries.ts"
import type { Generation, Model } from "../../api/types.ts"
import { Button } from "../../components/Button.tsx"
import { Empty, Loaded, Skeleton } from "../../components/States.tsx"
import { addReferences, changeDraft, restore, useDraft } from "./draft.ts"
import { priceOf } from "./price.ts"
import { Price } from "./Price.tsx"
import { RecentResults } from "./RecentResults.tsx"
import { type Draft, paramsOf, planOf, promptLength, requestOf } from "./request.ts"
import { RequestForm } from "./RequestForm.tsx"
import { Snippets } from "./Snippets.tsx"
import { Stage } from "./Stage.tsx"
import { useRun } from "./useRun.ts"

/** The page. */
export const Playground = () => {
  const models = useQuery(modelsQuery)
  useEffect(() => {
    document.title = "Playground · Kinora"
  }, [])
  return (
    <Loaded query={models} what="Models" loading={<Loading />}>
      {(models) =>
        models.length === 0
          ? (
            <>
              <h1 className="sr-only">Playground</h1>
              <Empty title="No models">
                Operators configure models in{" "}
                <code className="font-mono text-xs">kinora.config.yaml</code>. Restart the server to apply changes.
              </Empty>
            </>
          )
          : <Workspace models={models} />}
    </Loaded>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Workspace = ({ models }: { readonly models: ReadonlyArray<Model> }) => {
  const draft = useDraft()
  const { data: account } = useQuery(accountQuery)
  const { data: session } = useQuery(sessionQuery)
  const { cancel, create, error, isActive, job } = useRun()
  const navigate = useNavigate({ from: "/playground" })
  useRestored(job, draft.job)
  const model = models.find(({ id }) => id === draft.model) ?? models.find(({ status }) => status !== "paused") ??
    models[0]
  if (model === undefined) return null
  const plan = planOf(model, draft.plan, account)
  const params = paramsOf(model, draft.chosen)
  const { priced, request } = requestOf(model, draft, plan)
  const blocker = session?.role === "viewer" ? "Viewers cannot create jobs" : blockerOf(draft, model)
  const submit = () => {
    if (!isActive && blocker === null) create.mutate(request)
  }
  const show = (picked: Generation) => {
    create.reset()
    restore(picked)
    void navigate({ search: { job: picked.id }, replace: true })
  }
  return (
    <div className="grid min-h-full max-lg:pb-36 xl:grid-cols-[400px_minmax(0,1fr)]">
      <RequestForm
        {...{ account, draft, model, models, params, plan }}
        issues={problemOf(create.error).issues}
        onSubmit={submit}
        footer={
          <>
            <Price account={account} plan={plan} kind={model.kind} price={priceOf(model, priced)} />
            <Submit isActive={isActive} blocker={blocker} />
          </>
        }
      />
      <div className="min-w-0 space-y-5 p-4 lg:p-6">
        <Stage
          job={job}
          isSending={create.isPending}
          error={error}
          kind={model.kind}
          ratio={String(params["aspect_ratio"] ?? "1:1")}
          onRetry={submit}
          onCancel={cancel.mutate}
          onSwitch={() => changeDraft({ plan: plan === "studio" ? "credits" : "studio" })}
          onReference={model.max_reference_images > 0
            ? (job) => void reference(job, model.max_reference_images)
            : undefined}
        />
        <RecentResults shown={job?.id} onPick={show} />
        <Snippets request={request} kind={model.kind} job={job} />
      </div>
    </div>
  )
}

/** Takes over the settings of a job that was opened by its URL. */
const useRestored = (job: Generation | undefined, known: string | null): void => {
  useEffect(() => {
    if (job !== undefined && job.id !== known) restore(job)
  }, [job, known])
}

/** Why the form cannot be sent, or `null`. */
const blockerOf = (draft: Draft, model: Model): string | null => {
  if (model.status === "paused") return "This model is paused"
  if (draft.prompt.trim() === "") return "Write a prompt"
  if (promptLength(draft.prompt) > model.max_prompt_chars) return "The prompt is too long"
  if (draft.references.some(({ id, problem }) => id === null && problem === null)) return "Uploading images…"
  return null
}

const Submit = ({ blocker, isActive }: { readonly blocker: string | null; readonly isActive: boolean }) => (
  <Button type="submit" variant="primary" size="lg" className="w-full" disabled={isActive || blocker !== null}>
    {isActive ? "Generating…" : blocker ?? "Generate"}
    {!isActive && blocker === null && (
      <kbd aria-hidden="true" className="rounded border border-current/30 px-1.5 font-sans text-xs max-lg:hidden">
        Ctrl ↵
      </kbd>
    )}
  </Button>
)

/** Uploads the result of a job as an input image. */
const reference = async (job: Generation, max: number): Promise<void> => {
  const response = await kinora.generations.content(job.id)
  const blob = await response.blob()
  addReferences([new File([blob], job.id, { type: job.output?.mime ?? blob.type })], max)
}

const Loading = () => (
  <div className="grid gap-6 p-6 xl:grid-cols-[400px_1fr]">
    <Skeleton className="h-[70vh]" />
    <Skeleton className="h-[70vh]" />
  </div>
)
