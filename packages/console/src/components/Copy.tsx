/** Copying text. */
import { useEffect, useState } from "react"
import { Button, IconButton } from "./Button.tsx"
import { Icon } from "./Icon.tsx"

/** Copies text. Uses a selection if `navigator.clipboard` is unavailable, as on plain HTTP. */
const copy = async (text: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    const area = Object.assign(document.createElement("textarea"), { value: text })
    // Elements outside of a modal dialog cannot be selected.
    const place = document.querySelector("dialog[open]") ?? document.body
    place.append(area)
    area.select()
    document.execCommand("copy")
    area.remove()
  }
}

const useCopy = (text: string) => {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1600)
    return () => clearTimeout(timer)
  }, [copied])
  return { copied, start: () => void copy(text).then(() => setCopied(true)) }
}

/** A button that copies text. */
export const CopyButton = ({ label = "Copy", text, variant = "ghost" }: {
  readonly text: string
  readonly label?: string
  readonly variant?: "ghost" | "secondary"
}) => {
  const { copied, start } = useCopy(text)
  return (
    <Button variant={variant} size={variant === "ghost" ? "sm" : "md"} onClick={start}>
      {copied ? <Icon name="check" /> : <Icon name="copy" />}
      <span aria-live="polite">{copied ? "Copied" : label}</span>
    </Button>
  )
}

/** An id in monospace with a button that copies it. */
export const CopyId = ({ id, label = "Copy ID" }: { readonly id: string; readonly label?: string }) => {
  const { copied, start } = useCopy(id)
  return (
    <span className="inline-flex max-w-full items-center gap-1 align-bottom">
      <code className="truncate font-mono text-xs">{id}</code>
      <IconButton label={copied ? "Copied" : label} className="-my-1 shrink-0" onClick={start}>
        {copied ? <Icon name="check" /> : <Icon name="copy" />}
      </IconButton>
    </span>
  )
}
