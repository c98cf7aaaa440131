/** The steps of a job with their durations. */
import { isFinal } from "@kinora/client"
import type { Generation } from "../api/types.ts"
import { duration } from "../format/time.ts"
import { Icon } from "./Icon.tsx"
import { names } from "./names.ts"
import { useNow } from "./useNow.ts"

const parse = (text: string | null | undefined) => text == null ? undefined : Date.parse(text)

/** Queued, generating, done: each with its duration, live while the job runs. */
export const JobTimeline = ({ job }: { readonly job: Generation | undefined }) => {
  const now = useNow(job !== undefined && !isFinal(job) ? 100 : null)
  const [created, started, finished] = [parse(job?.created_at), parse(job?.started_at), parse(job?.finished_at)]
  const steps = [
    { label: job?.status === "pending" ? "Waiting" : "Queued", from: created, to: started ?? finished },
    { label: "Generating", from: started, to: finished },
    {
      label: job?.status === "failed" ? "Failed" : job?.status === "cancelled" ? "Cancelled" : "Done",
      from: finished,
      to: finished
    }
  ]
  return (
    <ol className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm" aria-label="Progress">
      {steps.map(({ from, label, to }, index) => (
        <li key={label} className={names("flex items-center gap-2", from === undefined ? "text-muted" : "text-ink")}>
          {index > 0 && <Icon name="arrowRight" className="size-3.5 text-faint" />}
          <span
            className={names(
              "size-1.5 rounded-full",
              from === undefined
                ? "bg-line-strong"
                : to === undefined
                ? "animate-pulse bg-accent"
                : index === 2 && job?.status !== "completed"
                ? "bg-danger"
                : "bg-positive"
            )}
          />
          {label}
          {from !== undefined && index < 2 && (
            <span className="font-mono text-xs text-muted tabular-nums">{duration((to ?? now) - from)}</span>
          )}
        </li>
      ))}
    </ol>
  )
}

/** How long the job has taken from its creation. */
export const Elapsed = ({ job }: { readonly job: Generation }) => {
  const now = useNow(isFinal(job) ? null : 100)
  return (
    <span className="font-mono text-xs text-muted tabular-nums">
      {duration((parse(job.finished_at) ?? now) - Date.parse(job.created_at))}
    </span>
  )
}
