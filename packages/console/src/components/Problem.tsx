/** Errors of requests. */
import { problemOf } from "../api/problem.ts"
import { Notice } from "./Badge.tsx"
import { Button } from "./Button.tsx"
import { CopyButton } from "./Copy.tsx"
import { names } from "./names.ts"

/** A failed request: its title, the service's message, the invalid fields, and the id of the request. */
export const Problem = ({ error, onRetry, title }: {
  readonly error: unknown
  readonly title?: string | undefined
  readonly onRetry?: (() => void) | undefined
}) => {
  const problem = problemOf(error)
  return (
    <Notice
      title={problem.code === "unknown" || problem.code === null ? title ?? problem.title : problem.title}
      action={onRetry !== undefined && <Button size="sm" onClick={onRetry}>Try again</Button>}
    >
      <p>{problem.detail}</p>
      <Issues of={problem} className="mt-1.5" />
      {problem.requestId !== null && (
        <p className="mt-1.5 flex flex-wrap items-center gap-x-2 font-mono text-xs text-muted">
          {problem.code} · {problem.requestId}
          <CopyButton label="Copy request ID" text={problem.requestId} />
        </p>
      )}
    </Notice>
  )
}

/** The invalid fields of a request. */
export const Issues = ({ className, of: { issues } }: {
  readonly of: ReturnType<typeof problemOf>
  readonly className: string
}) =>
  issues.size > 0 && (
    <ul className={names("list-disc pl-5", className)}>
      {[...issues].map(([name, issue]) => (
        <li key={name}>
          <code className="font-mono text-xs">{name}</code> {issue}
        </li>
      ))}
    </ul>
  )
