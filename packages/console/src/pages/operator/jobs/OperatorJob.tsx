/** A job of any account, with its steps and what an operator can do. */
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { call } from "../../../api/call.ts"
import type { JobActivity } from "../../../api/types.ts"
import { Card, Facts, Page } from "../../../components/Card.tsx"
import { CodeCard } from "../../../components/Code.tsx"
import { CopyId } from "../../../components/Copy.tsx"
import { DeliveryStatus, DeliveryTable } from "../../../components/DeliveryStatus.tsx"
import { costOf, JobStatus, planName } from "../../../components/JobStatus.tsx"
import { Loaded, Skeleton } from "../../../components/States.tsx"
import { Steps } from "../../../components/Steps.tsx"
import { Time } from "../../../components/Time.tsx"
import { utc } from "../../../format/time.ts"
import { ConfirmButton } from "../Confirm.tsx"
import { usePermits } from "../permits.ts"
import { operatorJobQuery } from "../queries.ts"

/** The page. */
export const OperatorJob = () => {
  const { id } = useParams({ from: "/operator/jobs/$id" })
  return (
    <Loaded query={useQuery(operatorJobQuery(id))} what="The job" loading={<Skeleton className="m-8 h-96" />}>
      {(job) => (
        <Page
          title={job.prompt ?? "Job"}
          about={
            <span className="flex flex-wrap items-center gap-3">
              <JobStatus status={job.status} />
              <CopyId id={job.id} label="Copy job ID" />
            </span>
          }
          actions={<Actions job={job} />}
        >
          <div className="grid items-start gap-4 lg:grid-cols-2">
            <div className="grid gap-4">
              <Card title="Job">
                <Details job={job} />
              </Card>
              <Deliveries deliveries={job.deliveries} />
            </div>
            <Card title="Timeline">
              <Steps job={job} />
            </Card>
          </div>
          <CodeCard label="JSON" text={JSON.stringify(job, null, 2)} />
        </Page>
      )}
    </Loaded>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Actions = ({ job: { id, run, status } }: { readonly job: JobActivity }) => {
  const [canCancel, canFail] = [usePermits("support"), usePermits("operator")]
  if (run === null) return null
  return (
    <>
      {canCancel && status !== "processing" && (
        <ConfirmButton
          size="md"
          label="Cancel job"
          title="Cancel this job?"
          act={() => call("POST /admin/v1/generations/:id/cancel", { params: { id } })}
        >
          The charge is refunded in full.
        </ConfirmButton>
      )}
      {canFail && status === "processing" && (
        <ConfirmButton
          size="md"
          label="Requeue job"
          title="Requeue this job?"
          tone="primary"
          act={() => call("POST /admin/v1/generations/:id/requeue", { params: { id } })}
        >
          Its worker stops, and another attempt starts. The attempt is not counted.
        </ConfirmButton>
      )}
      {canFail && (
        <ConfirmButton
          size="md"
          label="Fail job"
          title="Fail this job?"
          act={() => call("POST /admin/v1/generations/:id/fail", { params: { id } })}
        >
          A worker that runs it stops, and the charge is refunded in full.
        </ConfirmButton>
      )}
    </>
  )
}

const Details = ({ job }: { readonly job: JobActivity }) => (
  <Facts
    facts={[
      [
        "Account",
        <Link
          key="a"
          to="/operator/accounts/$id"
          params={{ id: job.account }}
          className="font-mono text-xs break-all underline"
        >
          {job.account}
        </Link>
      ],
      ["Model", <span key="m" className="font-mono text-xs">{job.model}</span>],
      ["Mode", <span key="o" className="font-mono text-xs">{job.mode}</span>],
      ["API key", job.key_id === null ? null : <CopyId key="k" id={job.key_id} label="Copy key ID" />],
      ["Charged to", planName(job.plan)],
      ["Charge", job.refunded ? `${costOf(job)}, refunded` : costOf(job)],
      ["Queue", job.run === null ? "ended" : job.run.state],
      ["Attempt", job.run === null ? null : job.run.attempt],
      ["Worker", job.run?.worker ?? null],
      ["Error", job.error === null ? null : `${job.error.code}: ${job.error.message}`],
      ["Created", utc(job.created_at)],
      ["Started", job.started_at === null ? null : utc(job.started_at)],
      ["Ended", job.finished_at === null ? null : utc(job.finished_at)],
      ["Result expires", job.result_expires_at === null ? null : <Time key="e" at={job.result_expires_at} />]
    ]}
  />
)

const Deliveries = ({ deliveries }: { readonly deliveries: JobActivity["deliveries"] }) => (
  <Card title="Webhook deliveries" flush>
    {deliveries.length === 0
      ? <p className="px-5 pb-5 text-sm text-muted">No events were sent.</p>
      : (
        <DeliveryTable
          deliveries={deliveries}
          columns={[
            { title: "Status", cell: ({ status }) => <DeliveryStatus status={status} /> },
            {
              title: "Failed attempts",
              isNumber: true,
              cell: ({ failed_sends }) => failed_sends
            },
            { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> }
          ]}
        />
      )}
  </Card>
)
