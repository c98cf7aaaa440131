/** The health of the service. */
import { useQuery } from "@tanstack/react-query"
import type { ResponseOf } from "../../../api/contract.ts"
import { Badge } from "../../../components/Badge.tsx"
import { LinkButton } from "../../../components/Button.tsx"
import { Card, Facts, Figure, Figures, Page } from "../../../components/Card.tsx"
import { Loaded, SkeletonRows } from "../../../components/States.tsx"
import { bytes, count } from "../../../format/number.ts"
import { capital } from "../../../format/text.ts"
import { duration } from "../../../format/time.ts"
import {
  operatorModelsQuery,
  queueQuery,
  readinessQuery,
  storageQuery,
  trialBalanceQuery,
  workersQuery
} from "../queries.ts"

/** The page. */
export const Health = () => (
  <Page title="Health" about={<Verdict />}>
    <Load />
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <Models />
      <Books />
    </div>
  </Page>
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The first problem, or that there is none. */
const Verdict = () => {
  const readiness = useQuery(readinessQuery)
  const workers = useQuery(workersQuery)
  const models = useQuery(operatorModelsQuery)
  const books = useQuery(trialBalanceQuery)
  const storage = useQuery(storageQuery)
  const impaired = models.data?.data.filter(({ status }) => status === "degraded" || status === "paused") ?? []
  const problems = [
    readiness.data === "unavailable" && "The database is unavailable",
    [readiness, workers, models, books].some(({ isError }) => isError) && "The health could not be checked",
    workers.data?.data.length === 0 && "No worker runs",
    books.data?.balanced === false && "The books do not balance",
    isScarce(storage.data) && "The disk is almost full",
    impaired.length > 0 && `Not available: ${impaired.map(({ id }) => id).join(", ")}`
  ].filter((problem) => problem !== false)
  if (readiness.isPending || workers.isPending || models.isPending) return "Checking…"
  return problems.length === 0
    ? <Badge tone="positive">All systems operational</Badge>
    : (
      <ul className="flex flex-wrap gap-2">
        {problems.map((problem) => (
          <li key={problem}>
            <Badge tone="danger">{problem}</Badge>
          </li>
        ))}
      </ul>
    )
}

const Load = () => {
  const { data: queue } = useQuery(queueQuery)
  const { data: workers } = useQuery(workersQuery)
  const sum = (pick: "pending" | "queued" | "processing") =>
    queue?.data.reduce((total, model) => total + model[pick], 0) ?? 0
  const oldest = Math.max(0, ...queue?.data.map(({ oldest_wait_seconds }) => oldest_wait_seconds ?? 0) ?? [])
  const capacity = workers?.data.reduce((total, { concurrency }) => total + concurrency, 0) ?? 0
  return (
    <Figures>
      <Figure label="Running" value={count(sum("processing"))} note={`of ${count(capacity)} that workers can run`} />
      <Figure
        label="Queued"
        value={count(sum("queued"))}
        note={oldest === 0 ? "no job waits for a worker" : `oldest for ${duration(oldest * 1000)}`}
      />
      <Figure label="Waiting for a slot" value={count(sum("pending"))} note="at the limit of their account" />
      <Figure
        label="Workers"
        value={count(workers?.data.length ?? 0)}
        note={`${count(workers?.data.filter(({ status }) => status !== "running").length ?? 0)} drained`}
      />
      <Disk />
    </Figures>
  )
}

/** Whether less than a tenth of the disk is free. */
const isScarce = (storage: ResponseOf<"GET /admin/v1/storage"> | undefined): boolean =>
  storage !== undefined && storage.disk !== null && storage.disk.free_bytes < 0.1 * storage.disk.total_bytes

const Disk = () => {
  const { data } = useQuery(storageQuery)
  if (data === undefined || data.disk === null) return null
  const { free_bytes: free, total_bytes: total } = data.disk
  return (
    <Figure
      label="Free on disk"
      value={bytes(free)}
      note={`of ${bytes(total)}`}
    />
  )
}

const Models = () => (
  <Card title="Models" actions={<LinkButton to="/operator/models" size="sm" variant="ghost">All models</LinkButton>}>
    <Loaded query={useQuery(operatorModelsQuery)} what="Models" loading={<SkeletonRows />}>
      {({ data }) => (
        <Facts
          facts={data.filter(({ status }) => status !== "withdrawn").map(({ id, status }) => [
            id,
            <Badge key={id} tone={status === "available" ? "positive" : status === "paused" ? "danger" : "warning"}>
              {capital(status)}
            </Badge>
          ])}
        />
      )}
    </Loaded>
  </Card>
)

const Books = () => (
  <Card title="Books" actions={<LinkButton to="/operator/ledger" size="sm" variant="ghost">Ledger</LinkButton>}>
    <Loaded query={useQuery(trialBalanceQuery)} what="The trial balance" loading={<SkeletonRows />}>
      {({ balanced, booked, data }) => (
        <Facts
          facts={[
            [
              "Balance",
              balanced
                ? <Badge key="b" tone="positive">Balanced</Badge>
                : <Badge key="b" tone="danger">Not balanced</Badge>
            ],
            ["Booked in total", count(booked)],
            ...data.map(({ balance, class: name, unit }) => [capital(name), `${count(balance)} ${unit}`] as const)
          ]}
        />
      )}
    </Loaded>
  </Card>
)
