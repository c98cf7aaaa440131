/** Jobs as a gallery. */
import { Link } from "@tanstack/react-router"
import type { Generation } from "../../api/types.ts"
import { Icon } from "../../components/Icon.tsx"
import { JobStatus } from "../../components/JobStatus.tsx"
import { Thumb } from "../../components/Thumb.tsx"
import { Time } from "../../components/Time.tsx"

/** Results with their prompts. */
export const JobGrid = ({ jobs }: { readonly jobs: ReadonlyArray<Generation> }) => (
  <ul className="grid grid-cols-2 gap-4 px-5 pt-1 pb-5 sm:grid-cols-3 lg:grid-cols-4 2xl:grid-cols-5">
    {jobs.map((job) => (
      <li key={job.id} className="min-w-0">
        <Link
          from="/jobs"
          to="/jobs/$id"
          params={{ id: job.id }}
          search={(now) => now}
          className="group block rounded-lg"
          resetScroll={false}
        >
          <span className="relative block overflow-hidden rounded-lg border border-line transition-opacity duration-150 group-hover:opacity-90">
            <Thumb job={job} className="aspect-square w-full" />
            {job.kind === "video" && job.status === "completed" && (
              <span className="absolute top-2 right-2 rounded-md bg-surface p-1 text-ink shadow-card">
                <Icon name="film" className="size-4" />
                <span className="sr-only">Video</span>
              </span>
            )}
            {job.status !== "completed" && (
              <span className="absolute top-2 left-2">
                <JobStatus status={job.status} />
              </span>
            )}
          </span>
          <span className="mt-2 block truncate text-sm font-medium">{job.prompt ?? "Without prompt"}</span>
          <span className="block truncate text-xs text-muted">
            {job.model} · <Time at={job.created_at} />
          </span>
        </Link>
      </li>
    ))}
  </ul>
)
