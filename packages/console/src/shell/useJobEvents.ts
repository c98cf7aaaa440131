/** Changes of the account's jobs, from one stream per tab. */
import { useEffect } from "react"
import { queryClient } from "../api/queries.ts"
import type { Generation } from "../api/types.ts"

/** Writes each change of a job into the cache and marks lists as outdated. Without a stream, pages poll. */
export const useJobEvents = (isEnabled: boolean): void => {
  useEffect(() => isEnabled ? followJobs() : undefined, [isEnabled])
}

/** Marks everything that depends on jobs as outdated. */
export const refreshLists = (): void => {
  for (const queryKey of [["jobs"], ["account"], ["summary"], ["activity"], ["statement"]]) {
    void queryClient.invalidateQueries({ queryKey })
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const secondsMax = 60

/** Follows the jobs of the account until the returned function is called. */
const followJobs = (): () => void => {
  let source: EventSource
  let timer: number | undefined
  let failures = 0
  const open = () => {
    source = new EventSource("/console/v1/events")
    source.addEventListener("generation", ({ data }: MessageEvent<string>) => {
      const job = JSON.parse(data) as Generation
      queryClient.setQueryData(["job", job.id], job)
      refreshLists()
    })
    source.addEventListener("open", () => {
      // A new stream does not contain jobs that ended before it.
      if (failures > 0) {
        refreshLists()
        void queryClient.invalidateQueries({ queryKey: ["job"] })
      }
      failures = 0
    })
    source.addEventListener("error", () => {
      // The browser reconnects by itself, unless a response refuses the stream, such as that of a proxy during a restart.
      if (source.readyState !== EventSource.CLOSED) return
      failures++
      timer = window.setTimeout(open, Math.min(2 ** failures, secondsMax) * 1_000)
    })
  }
  open()
  return () => {
    window.clearTimeout(timer)
    source.close()
  }
}
