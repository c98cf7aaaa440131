/** The steps of a job, as the service recorded them. */
import type { JobActivity } from "../api/types.ts"
import { plural } from "../format/number.ts"
import { utc } from "../format/time.ts"
import { names } from "./names.ts"

type Step = JobActivity["timeline"][number]

/** The steps of a job, oldest first, each with its time. */
export const Steps = ({ job: { cost_credits, timeline } }: { readonly job: JobActivity }) => (
  <ol className="space-y-0 text-sm">
    {timeline.map((step, index) => (
      <li key={index} className="relative flex gap-3 pb-4 last:pb-0">
        {index < timeline.length - 1 && <span className="absolute top-3 bottom-0 left-[3.5px] w-px bg-line-strong" />}
        <span className={names("relative mt-1.5 size-2 shrink-0 rounded-full", toneOf(step))} />
        <div className="min-w-0 flex-1">
          <div className="flex flex-wrap items-baseline justify-between gap-x-3">
            <span className="font-medium">{labelOf(step)}</span>
            <time dateTime={step.at} title={utc(step.at)} className="font-mono text-xs text-muted">
              {new Date(step.at).toISOString().slice(11, 23)}
            </time>
          </div>
          <p className="text-xs break-words text-muted">{noteOf(step, cost_credits === null)}</p>
        </div>
      </li>
    ))}
  </ol>
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const labels: Readonly<Record<Step["step"], string>> = {
  created: "Created",
  charged: "Charged",
  started: "Started",
  lost: "Worker lost",
  returned: "Returned to the queue",
  requeued: "Requeued by an operator",
  completed: "Completed",
  failed: "Failed",
  failed_by_operator: "Failed by an operator",
  cancelled: "Cancelled",
  refunded: "Refunded",
  event_published: "Webhook event",
  event_sent: "Webhook sent"
}

const labelOf = ({ step }: Step): string => labels[step]

/** Jobs of the Studio plan cost one of the daily quota instead of credits. */
const noteOf = ({ amount, attempt, webhook }: Step, isQuota: boolean): string =>
  [
    amount === null ? null : isQuota ? `${amount} of the Studio quota` : plural(amount, "credit"),
    attempt === null ? null : attemptText(attempt),
    webhook === null
      ? null
      : [
        webhook.type,
        webhook.attempt === null ? null : `attempt ${webhook.attempt}`,
        webhook.http_status === null ? null : `HTTP ${webhook.http_status}`,
        webhook.reason === "ok" || webhook.reason?.startsWith("status_") ? null : webhook.reason
      ].filter((part) => part !== null).join(", ")
  ].filter((part) => part !== null).join(" · ")

/** Accounts do not see the names of workers. */
const attemptText = ({ number, worker }: NonNullable<Step["attempt"]>): string =>
  worker === "" ? `attempt ${number}` : `attempt ${number} by ${worker}`

const toneOf = ({ step, webhook }: Step): string =>
  step === "completed" || (step === "event_sent" && webhook?.reason === "ok")
    ? "bg-positive"
    : step === "failed" || step === "failed_by_operator" || step === "lost" || step === "event_sent"
    ? "bg-danger"
    : step === "refunded" || step === "cancelled" || step === "returned" || step === "requeued"
    ? "bg-warning"
    : "bg-accent"
