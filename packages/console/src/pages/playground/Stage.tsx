/** The result of the job on the page, its progress, or the error. */
import { isFinal } from "@kinora/client"
import { problemOf } from "../../api/problem.ts"
import type { Generation, Kind } from "../../api/types.ts"
import { Badge } from "../../components/Badge.tsx"
import { Button } from "../../components/Button.tsx"
import { CopyButton } from "../../components/Copy.tsx"
import { Icon } from "../../components/Icon.tsx"
import { JobStatus } from "../../components/JobStatus.tsx"
import { Elapsed, JobTimeline } from "../../components/JobTimeline.tsx"
import { Issues } from "../../components/Problem.tsx"
import { Result, ResultLinks } from "../../components/Result.tsx"
import { useNow } from "../../components/useNow.ts"
import { plural } from "../../format/number.ts"

const resultClass = "max-h-[46vh] max-w-full lg:max-h-[min(calc(58vh-40px),600px)]"

/** The stage. Its size does not depend on its content, so that nothing moves. */
export const Stage = ({ error, isSending, job, onCancel, onReference, onRetry, onSwitch, ratio, kind }: {
  readonly job: Generation | undefined
  readonly isSending: boolean
  readonly error: unknown
  readonly ratio: string
  readonly kind: Kind
  readonly onCancel: (id: string) => void
  readonly onRetry: () => void
  readonly onSwitch: () => void
  /** `undefined` if the model takes no input images. */
  readonly onReference: ((job: Generation) => void) | undefined
}) => (
  <section aria-labelledby="result" className="card overflow-hidden">
    <div className="flex h-12 items-center justify-between border-b border-line px-4">
      <div className="flex items-center gap-2.5">
        <h2 id="result" className="text-sm font-medium">Result</h2>
        <span aria-live="polite">
          {isSending ? <Badge tone="accent">Sending</Badge> : job !== undefined && <JobStatus status={job.status} />}
        </span>
      </div>
      {job !== undefined && <Elapsed job={job} />}
    </div>
    <div className="stage grid min-h-[300px] place-items-center p-5 lg:h-[min(58vh,640px)]">
      {error !== null && error !== undefined
        ? <Refused error={error} onRetry={onRetry} onSwitch={onSwitch} />
        : job !== undefined
        ? <Result job={job} className={resultClass} />
        : isSending
        ? (
          <div
            className={`shimmer h-full rounded-lg border border-line ${resultClass}`}
            style={{ aspectRatio: ratio.replace(":", " / ") }}
          />
        )
        : (
          <div className="max-w-xs text-center">
            <p className="text-base font-medium">Your {kind} will appear here</p>
            <p className="mt-1 text-sm text-muted">Write a prompt, check the price, then generate.</p>
          </div>
        )}
    </div>
    <div className="flex min-h-14 flex-wrap items-center justify-between gap-3 border-t border-line px-4 py-2.5">
      <JobTimeline job={job} />
      {job !== undefined && <StageActions job={job} onCancel={onCancel} onReference={onReference} />}
    </div>
  </section>
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const StageActions = ({ job, onCancel, onReference }: {
  readonly job: Generation
  readonly onCancel: (id: string) => void
  readonly onReference: ((job: Generation) => void) | undefined
}) => (
  <div className="flex flex-wrap items-center gap-2">
    {(job.status === "pending" || job.status === "queued") && (
      <Button variant="danger" onClick={() => onCancel(job.id)}>
        <Icon name="square" />Cancel
      </Button>
    )}
    {isFinal(job) && <CopyButton label="Copy job ID" text={job.id} />}
    {job.output !== null && job.kind === "image" && onReference !== undefined && (
      <Button onClick={() => onReference(job)}>
        <Icon name="imagePlus" />Use as reference
      </Button>
    )}
    {job.output !== null && <ResultLinks output={job.output} />}
  </div>
)

/** Why the request was refused. The page offers the other plan group and never switches by itself. */
const Refused = ({ error, onRetry, onSwitch }: {
  readonly error: unknown
  readonly onRetry: () => void
  readonly onSwitch: () => void
}) => {
  const problem = problemOf(error)
  const canSwitch = ["quota_exceeded", "insufficient_credits", "plan_inactive"].includes(problem.code ?? "")
  return (
    <div role="alert" className="card max-w-md p-5">
      <p className="text-base font-semibold">{problem.title}</p>
      <p className="mt-1 text-muted">{problem.detail}</p>
      <Issues of={problem} className="mt-2 text-sm" />
      {problem.requestId !== null && (
        <p className="mt-3 font-mono text-xs break-all text-muted">{problem.code} · {problem.requestId}</p>
      )}
      <div className="mt-4 flex flex-wrap items-center gap-2">
        <Button onClick={onRetry}>
          <Icon name="rotateCcw" />Try again
        </Button>
        {canSwitch && <Button variant="ghost" onClick={onSwitch}>Use the other plan</Button>}
        {problem.retryAfterMillis !== null && <Countdown key={problem.requestId} millis={problem.retryAfterMillis} />}
      </div>
    </div>
  )
}

const Countdown = ({ millis }: { readonly millis: number }) => {
  const now = useNow(1_000)
  const start = useNow(null)
  const seconds = Math.ceil((start + millis - now) / 1000)
  return seconds > 0 && <span className="text-xs text-muted">Allowed again in {plural(seconds, "second")}</span>
}
