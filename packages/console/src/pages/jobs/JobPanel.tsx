/** The panel of one job, above the list. It has its own URL. */
import { useMutation, useQuery } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import { kinora } from "../../api/call.ts"
import { jobQuery, queryClient } from "../../api/queries.ts"
import type { Generation } from "../../api/types.ts"
import { Button, LinkButton } from "../../components/Button.tsx"
import { CopyButton, CopyId } from "../../components/Copy.tsx"
import { Dialog } from "../../components/Dialog.tsx"
import { Icon } from "../../components/Icon.tsx"
import { JobStatus } from "../../components/JobStatus.tsx"
import { JobTimeline } from "../../components/JobTimeline.tsx"
import { Problem } from "../../components/Problem.tsx"
import { Result, ResultLinks } from "../../components/Result.tsx"
import { Loaded, Skeleton } from "../../components/States.tsx"
import { refreshLists } from "../../shell/useJobEvents.ts"
import { snippet } from "../playground/snippets.ts"
import { JobDetails } from "./JobDetails.tsx"

/** The panel. */
export const JobPanel = () => {
  const { id } = useParams({ from: "/jobs/$id" })
  const navigate = useNavigate({ from: "/jobs/$id" })
  const query = useQuery(jobQuery(id))
  return (
    <Dialog
      look="panel"
      title={query.data?.prompt ?? "Job"}
      about={<CopyId id={id} label="Copy job ID" />}
      onClose={() => void navigate({ to: "/jobs", search: (now) => now, resetScroll: false })}
    >
      <Loaded query={query} what="The job" loading={<Skeleton className="h-80" />}>
        {(job) => <Content job={job} />}
      </Loaded>
    </Dialog>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Content = ({ job }: { readonly job: Generation }) => {
  const cancel = useMutation({
    mutationFn: () => kinora.generations.cancel(job.id),
    onSuccess: (cancelled) => {
      queryClient.setQueryData(["job", job.id], cancelled)
      refreshLists()
    }
  })
  return (
    <>
      <div className="stage grid h-[min(44vh,420px)] place-items-center rounded-lg border border-line p-4">
        <Result job={job} className="max-h-[calc(min(44vh,420px)-2rem)] max-w-full" />
      </div>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <span className="flex flex-wrap items-center gap-3">
          <JobStatus status={job.status} />
          <JobTimeline job={job} />
        </span>
        <span className="flex flex-wrap items-center gap-2">
          {(job.status === "pending" || job.status === "queued") && (
            <Button
              variant="danger"
              busy={cancel.isPending}
              onClick={() => cancel.mutate()}
            >
              <Icon name="square" />Cancel
            </Button>
          )}
          {job.output !== null && <ResultLinks output={job.output} />}
        </span>
      </div>
      {cancel.isError && <Problem title="The job could not be cancelled" error={cancel.error} />}
      <div className="flex flex-wrap gap-2 border-b border-line pb-4">
        <LinkButton to="/playground" search={{ job: job.id }}>
          <Icon name="sparkles" />Open in Playground
        </LinkButton>
        <CopyButton variant="secondary" label="Copy as curl" text={curlOf(job)} />
      </div>
      <JobDetails job={job} />
    </>
  )
}

/** The request that creates the same job. Input images are not part of it, because the service does not keep them. */
const curlOf = ({ kind, model, params: { images: _, ...params }, plan, prompt }: Generation): string =>
  snippet("curl", { plan, model, params: { prompt: prompt ?? "", ...params } }, kind, location.origin)
