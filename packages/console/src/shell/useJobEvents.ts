/** Changes of the account's jobs, from one stream per tab. */
import { useEffect } from "react"
import { queryClient } from "../api/queries.ts"
import type { Generation } from "../api/types.ts"

/** Writes each change of a job into the cache and marks lists as outdated. Without a stream, pages poll. */
export const useJobEvents = (isEnabled: boolean): void => {
  useEffect(() => {
    if (!isEnabled) return
    // Reconnects by itself, unless the service refuses the stream.
    const source = new EventSource("/console/v1/events")
    source.addEventListener("generation", ({ data }: MessageEvent<string>) => {
      const job = JSON.parse(data) as Generation
      queryClient.setQueryData(["job", job.id], job)
      refreshLists()
    })
    return () => source.close()
  }, [isEnabled])
}

/** Marks everything that depends on jobs as outdated. */
export const refreshLists = (): void => {
  for (const queryKey of [["jobs"], ["account"], ["summary"], ["activity"], ["statement"]]) {
    void queryClient.invalidateQueries({ queryKey })
  }
}
