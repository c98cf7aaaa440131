/** The latest results. */
import { useQuery } from "@tanstack/react-query"
import { recentQuery } from "../../api/queries.ts"
import type { Generation } from "../../api/types.ts"
import { names } from "../../components/names.ts"
import { Thumb } from "../../components/Thumb.tsx"

/** The latest results in a row. A click shows the job and restores its settings. */
export const RecentResults = ({ onPick, shown }: {
  readonly shown: string | undefined
  readonly onPick: (job: Generation) => void
}) => {
  const { data } = useQuery(recentQuery)
  const jobs = (data?.data ?? []).filter(({ output }) => output !== null)
  if (jobs.length === 0) return null
  return (
    <section aria-label="Recent results">
      <h2 className="mb-2 text-sm font-medium">Recent</h2>
      <ul className="flex gap-2.5 overflow-x-auto p-1 pb-2">
        {jobs.map((job) => (
          <li key={job.id}>
            <button
              type="button"
              title={job.prompt ?? ""}
              aria-label={`Show the result and use the settings of: ${job.prompt ?? job.id}`}
              aria-current={job.id === shown}
              onClick={() => onPick(job)}
              className={names(
                "block overflow-hidden rounded-lg border transition-opacity duration-150 hover:opacity-85",
                job.id === shown ? "border-accent ring-2 ring-accent/40" : "border-line"
              )}
            >
              <Thumb job={job} className="size-20" />
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
