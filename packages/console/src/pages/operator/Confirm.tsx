/** Asking before a change. */
import { type ReactNode, useState } from "react"
import { Button, type ButtonLook } from "../../components/Button.tsx"
import { FormDialog } from "../../components/Dialog.tsx"
import { TextField } from "../../components/Field.tsx"
import { useChange } from "./useChange.ts"

/** A button that asks, then makes a change and refreshes all operator pages. `typed` has to be typed to confirm. */
export const ConfirmButton = ({ act, children, label, size = "sm", title, tone = "danger", typed }: {
  readonly label: string
  readonly title: string
  readonly tone?: "primary" | "danger"
  readonly size?: ButtonLook["size"]
  readonly typed?: string | undefined
  readonly act: () => Promise<unknown>
  readonly children?: ReactNode
}) => {
  const [isOpen, setOpen] = useState(false)
  const [text, setText] = useState("")
  const change = useChange(act, () => setOpen(false))
  return (
    <>
      <Button size={size} variant={tone === "danger" ? "danger" : "secondary"} onClick={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen && (
        <FormDialog
          title={title}
          submit={label}
          tone={tone}
          change={change}
          invalid={typed !== undefined && text !== typed}
          onClose={() => setOpen(false)}
        >
          <div className="text-muted">{children}</div>
          {typed !== undefined && (
            <TextField label={`Type ${typed} to confirm`} autoComplete="off" value={text} onChange={setText} />
          )}
        </FormDialog>
      )}
    </>
  )
}
