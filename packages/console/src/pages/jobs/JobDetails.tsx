/** The steps, charge, parameters and webhooks of a job, and its JSON. */
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { activityQuery } from "../../api/queries.ts"
import type { Generation, JobActivity } from "../../api/types.ts"
import { Facts } from "../../components/Card.tsx"
import { CodeCard } from "../../components/Code.tsx"
import { DeliveryStatus, DeliveryTable } from "../../components/DeliveryStatus.tsx"
import { costOf, planName } from "../../components/JobStatus.tsx"
import { Empty, Loaded, SkeletonRows } from "../../components/States.tsx"
import { Steps } from "../../components/Steps.tsx"
import { Tabs } from "../../components/Tabs.tsx"
import { Time } from "../../components/Time.tsx"
import { bytes } from "../../format/number.ts"
import { capital } from "../../format/text.ts"
import { utc } from "../../format/time.ts"

const tabs = [["details", "Details"], ["timeline", "Timeline"], ["webhooks", "Webhooks"], ["json", "JSON"]] as const

/** The tabs of a job. */
export const JobDetails = ({ job }: { readonly job: Generation }) => {
  const [tab, setTab] = useState<typeof tabs[number][0]>("details")
  return (
    <Tabs label="Job" tabs={tabs} value={tab} onChange={setTab}>
      <div className="pt-4">
        {tab === "details" && <Details job={job} />}
        {tab === "timeline" && <Timeline id={job.id} />}
        {tab === "webhooks" && <Webhooks id={job.id} />}
        {tab === "json" && <CodeCard label="Job" text={JSON.stringify(job, null, 2)} />}
      </div>
    </Tabs>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Details = ({ job }: { readonly job: Generation }) => {
  const { images, ...params } = job.params
  return (
    <Facts
      facts={[
        ["Model", <span key="model" className="font-mono text-xs">{job.model}</span>],
        ["Mode", <span key="mode" className="font-mono text-xs">{job.mode}</span>],
        ["Charged to", planName(job.plan)],
        ["Charge", job.refunded ? `${costOf(job)}, refunded` : costOf(job)],
        ...Object.entries(params).map(([name, value]) => [capital(name.replaceAll("_", " ")), String(value)] as const),
        ["Input images", images == null ? null : images.map(({ height, width }) => `${width} × ${height}`).join(", ")],
        ["Size", job.output === null ? null : `${bytes(job.output.bytes)}, ${job.output.mime}`],
        ["Created", utc(job.created_at)],
        ["Started", job.started_at === null ? null : utc(job.started_at)],
        ["Ended", job.finished_at === null ? null : utc(job.finished_at)],
        ["Result expires", job.result_expires_at === null ? null : <Time key="expiry" at={job.result_expires_at} />],
        ["Error", job.error === null ? null : `${job.error.code}: ${job.error.message}`]
      ]}
    />
  )
}

const Timeline = ({ id }: { readonly id: string }) => (
  <Loaded query={useQuery(activityQuery(id))} what="The timeline" loading={<SkeletonRows />}>
    {(job) => <Steps job={job} />}
  </Loaded>
)

const Webhooks = ({ id }: { readonly id: string }) => (
  <Loaded query={useQuery(activityQuery(id))} what="The webhooks" loading={<SkeletonRows />}>
    {({ deliveries }) =>
      deliveries.length === 0
        ? <Empty title="No webhook events sent">Endpoints that exist when a job changes receive an event.</Empty>
        : <Deliveries deliveries={deliveries} />}
  </Loaded>
)

const Deliveries = ({ deliveries }: { readonly deliveries: JobActivity["deliveries"] }) => (
  <DeliveryTable
    deliveries={deliveries}
    columns={[
      {
        title: "Endpoint",
        cell: ({ endpoint_id }) => (
          <Link to="/webhooks/$id" params={{ id: endpoint_id }} className="font-mono text-xs underline">
            {endpoint_id.slice(0, 13)}…
          </Link>
        )
      },
      { title: "Status", cell: ({ status }) => <DeliveryStatus status={status} /> },
      { title: "Time", cell: ({ created_at }) => <Time at={created_at} /> }
    ]}
  />
)
