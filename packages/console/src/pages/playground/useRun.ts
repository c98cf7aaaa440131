/** Creating jobs and following them. */
import { isFinal } from "@kinora/client"
import { useMutation, useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useEffect } from "react"
import { kinora } from "../../api/call.ts"
import { jobQuery, queryClient } from "../../api/queries.ts"
import type { CreateGenerationRequest } from "../../api/types.ts"
import { refreshLists } from "../../shell/useJobEvents.ts"
import { changeDraft } from "./draft.ts"

/** The job of the page, and how to create and to cancel one. The id of the job is in the URL. */
export const useRun = () => {
  const { job: id } = useSearch({ from: "/playground" })
  const navigate = useNavigate({ from: "/playground" })
  const query = useQuery({ ...jobQuery(id ?? ""), enabled: id !== undefined })
  const job = id === undefined ? undefined : query.data
  const create = useMutation({
    mutationFn: (request: CreateGenerationRequest) => kinora.generations.create(request),
    onMutate: () => navigate({ search: {}, replace: true }),
    onSuccess: (created) => {
      queryClient.setQueryData(["job", created.id], created)
      changeDraft({ job: created.id })
      void navigate({ search: { job: created.id }, replace: true })
      refreshLists()
    }
  })
  const cancel = useMutation({
    mutationFn: (id: string) => kinora.generations.cancel(id),
    onSuccess: (cancelled) => queryClient.setQueryData(["job", cancelled.id], cancelled)
  })
  const isActive = create.isPending || (job !== undefined && !isFinal(job))
  useFollowing(job !== undefined && !isFinal(job) ? job.id : null)
  return {
    job,
    create,
    cancel,
    isActive,
    error: create.error ?? cancel.error ?? (id === undefined ? null : query.error)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Writes each state of the job into the cache, from its stream of events. If the stream fails, the query still polls. */
const useFollowing = (id: string | null): void => {
  useEffect(() => {
    if (id === null) return
    const abort = new AbortController()
    const follow = async () => {
      for await (const job of kinora.generations.events(id, { signal: abort.signal })) {
        queryClient.setQueryData(["job", id], job)
        if (isFinal(job)) refreshLists()
      }
    }
    follow().catch(() => undefined)
    return () => abort.abort()
  }, [id])
}
