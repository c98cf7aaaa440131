/** Secrets that are shown once. */
import type { ReactNode } from "react"
import { Notice } from "./Badge.tsx"
import { Button } from "./Button.tsx"
import { CodeCard } from "./Code.tsx"
import { CopyButton } from "./Copy.tsx"
import { Dialog } from "./Dialog.tsx"

/** A dialog with a new secret. It closes only by the button that confirms that the secret was saved. */
export const SecretDialog = ({ about, examples, onClose, secret, title, what }: {
  readonly title: string
  readonly about?: ReactNode
  /** Names the secret in sentences, such as "key". */
  readonly what: string
  readonly secret: string
  readonly examples: ReadonlyArray<{ readonly label: string; readonly text: string }>
  readonly onClose: () => void
}) => (
  <Dialog
    title={title}
    about={about}
    wide
    onClose={null}
    footer={<Button variant="primary" onClick={onClose}>I have saved it</Button>}
  >
    <Notice tone="warning" title={`Copy the ${what} now`}>You will not be able to see it again.</Notice>
    <div className="flex items-center gap-2 rounded-lg border border-line-strong bg-canvas py-1.5 pr-1.5 pl-3">
      <code className="min-w-0 flex-1 font-mono text-xs break-all">{secret}</code>
      <CopyButton text={secret} />
    </div>
    {examples.map(({ label, text }) => <CodeCard key={label} label={label} text={text} />)}
  </Dialog>
)
