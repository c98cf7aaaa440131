/** The result of a job, and its links. */
import type { Generation } from "../api/types.ts"
import { date } from "../format/time.ts"
import { AnchorButton } from "./Button.tsx"
import { Icon } from "./Icon.tsx"
import { names } from "./names.ts"

/** The image or the video of a completed job, or the reason why there is none. */
export const Result = ({ className, job }: { readonly job: Generation; readonly className: string }) => {
  if (job.status === "failed" || job.status === "cancelled") {
    return (
      <div className="card max-w-md p-5">
        <p className="text-base font-semibold">
          {job.status === "failed" ? "The job failed" : "The job was cancelled"}
        </p>
        <p className="mt-1 text-muted">{job.error?.message ?? "It had not started yet."} You were not charged.</p>
        {job.error !== null && (
          <p className="mt-2 font-mono text-xs text-muted">
            {[job.error.code, job.error.reason].filter((part) => part !== null).join(" · ")}
          </p>
        )}
      </div>
    )
  }
  if (job.status !== "completed") {
    return (
      <div
        role="status"
        aria-label="Generating"
        className={names("shimmer rounded-lg border border-line", className)}
        style={{ aspectRatio: (job.params.aspect_ratio ?? "1:1").replace(":", " / "), height: "100%" }}
      />
    )
  }
  if (job.output === null) {
    return (
      <div className="card max-w-md p-5">
        <p className="text-base font-semibold">The result has expired</p>
        <p className="mt-1 text-muted">
          {job.result_expires_at === null
            ? "It is not available."
            : `It was available until ${date(job.result_expires_at)}.`}
        </p>
      </div>
    )
  }
  if (job.kind === "video") {
    return (
      <video
        key={job.id}
        controls
        loop
        playsInline
        preload="metadata"
        aria-label={job.prompt ?? "Generated video"}
        src={job.output.url}
        poster={job.poster_url ?? undefined}
        className={names("rounded-lg shadow-pop", className)}
      />
    )
  }
  return (
    <img
      key={job.id}
      src={job.preview_url ?? job.output.url}
      alt={job.prompt ?? "Generated image"}
      className={names("rounded-lg shadow-pop", className)}
    />
  )
}

/** Links to open and to download the result. */
export const ResultLinks = ({ output }: { readonly output: NonNullable<Generation["output"]> }) => (
  <>
    <AnchorButton href={output.url} target="_blank" rel="noreferrer">
      <Icon name="externalLink" />Open
    </AnchorButton>
    <AnchorButton href={`${output.url}&download=1`}>
      <Icon name="download" />Download
    </AnchorButton>
  </>
)
