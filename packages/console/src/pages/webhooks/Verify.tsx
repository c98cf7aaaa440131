/** Code that verifies events, and a form that checks one. */
import { type ComponentProps, useState } from "react"
import { Notice } from "../../components/Badge.tsx"
import { Button } from "../../components/Button.tsx"
import { CodeCard } from "../../components/Code.tsx"
import { Field, TextField } from "../../components/Field.tsx"
import { Segmented } from "../../components/Segmented.tsx"
import { receivers } from "./receivers.ts"
import { checkSignature, type SignatureCheck } from "./signature.ts"

/** The tab. */
export const Verify = () => {
  const [language, setLanguage] = useState<typeof receivers[number][0]>("node")
  const [, name, text] = receivers.find(([one]) => one === language) ?? receivers[0]
  return (
    <div className="grid gap-6 p-5 xl:grid-cols-2">
      <div className="min-w-0 space-y-3">
        <h2 className="text-base font-semibold">Verify events in your receiver</h2>
        <p className="text-sm text-muted">
          Every event has the header{" "}
          <code className="font-mono text-xs">X-Service-Signature</code>. Verify it on the raw body, before you parse
          it.
        </p>
        <div className="w-fit">
          <Segmented
            label="Language"
            hideLabel
            value={language}
            onChange={setLanguage}
            options={receivers.map(([value, label]) => ({ value, label }))}
          />
        </div>
        <CodeCard label={name} text={text} />
      </div>
      <Check />
    </div>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const outcomes: Readonly<
  Record<
    SignatureCheck,
    { readonly tone: "positive" | "warning" | "danger"; readonly title: string; readonly text: string }
  >
> = {
  valid: {
    tone: "positive",
    title: "The signature is valid",
    text: "The body is unchanged and was signed with this secret."
  },
  old: { tone: "warning", title: "The signature is valid, but older than 5 minutes", text: "A receiver rejects it." },
  wrong: {
    tone: "danger",
    title: "The signature does not match",
    text: "Use the raw body, byte for byte, and the newest secret."
  },
  malformed: { tone: "danger", title: "The header is malformed", text: "It looks like t=1764000000,v1=5257a869…" }
}

const CodeField = (props: ComponentProps<typeof TextField>) => (
  <TextField className="font-mono text-xs" required {...props} />
)

/** Checks a request. Neither the body nor the secret leaves the browser. */
const Check = () => {
  const [body, setBody] = useState("")
  const [header, setHeader] = useState("")
  const [secret, setSecret] = useState("")
  const [result, setResult] = useState<SignatureCheck | null>(null)
  const isAvailable = globalThis.isSecureContext
  return (
    <form
      className="min-w-0 space-y-4"
      onSubmit={(event) => {
        event.preventDefault()
        void checkSignature(body, header, secret, Date.now()).then(setResult)
      }}
    >
      <h2 className="text-base font-semibold">Check a request</h2>
      <p className="text-sm text-muted">Runs in this browser only. Nothing is sent or kept.</p>
      <Field label="Raw body">
        {(ids) => (
          <textarea
            {...ids}
            rows={5}
            required
            className="control font-mono text-xs"
            value={body}
            onChange={(event) => setBody(event.target.value)}
          />
        )}
      </Field>
      <CodeField label="X-Service-Signature" placeholder="t=…,v1=…" value={header} onChange={setHeader} />
      <CodeField
        label="Secret"
        type="password"
        autoComplete="off"
        placeholder="whsec_…"
        value={secret}
        onChange={setSecret}
      />
      <Button type="submit" disabled={!isAvailable}>Check signature</Button>
      {!isAvailable && <p className="text-xs text-muted">Browsers compute signatures on HTTPS and localhost only.</p>}
      {result !== null && (
        <Notice tone={outcomes[result].tone} title={outcomes[result].title}>{outcomes[result].text}</Notice>
      )}
    </form>
  )
}
