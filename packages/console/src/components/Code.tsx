/** Code with minimal highlighting. */
import type { ReactNode } from "react"
import { CopyButton } from "./Copy.tsx"

const tokens =
  /("(?:[^"\\\n]|\\.)*")|\b(import|from|const|await|new|curl|if|return|func|def|err)\b|(\$[A-Z_]+|process\.env\.\w+|-[HdX]\b)|(?<=: )(true|false|null|\d+)\b/g
const colors = ["", "text-positive", "text-accent", "text-warning", "text-warning"]

/** A block of code. Builds elements and never parses HTML, so the text can come from anyone. */
export const Code = ({ label, text }: { readonly text: string; readonly label: string }) => {
  const parts: Array<ReactNode> = []
  let end = 0
  for (const match of text.matchAll(tokens)) {
    const which = match.findIndex((group, index) => index > 0 && group !== undefined)
    parts.push(text.slice(end, match.index), <span key={match.index} className={colors[which]}>{match[0]}</span>)
    end = match.index + match[0].length
  }
  return (
    <pre
      tabIndex={0}
      role="region"
      aria-label={label}
      className="max-h-80 overflow-auto px-4 py-3.5 font-mono text-xs leading-5 text-ink"
    >
      {parts}
      {text.slice(end)}
    </pre>
  )
}

/** A block of code in a frame, with a button that copies it. */
export const CodeCard = ({ label, text }: { readonly text: string; readonly label: string }) => (
  <div className="overflow-hidden rounded-lg border border-line bg-canvas">
    <div className="flex items-center justify-between border-b border-line py-1 pr-1.5 pl-4">
      <span className="text-xs font-medium text-muted">{label}</span>
      <CopyButton text={text} />
    </div>
    <Code label={label} text={text} />
  </div>
)
