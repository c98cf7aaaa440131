/** The search for jobs of all accounts. */
import { useInfiniteQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import type { ResponseOf } from "../../../api/contract.ts"
import { Page } from "../../../components/Card.tsx"
import { JobStatus, planName, statusOptions } from "../../../components/JobStatus.tsx"
import { JobTitle } from "../../../components/JobTitle.tsx"
import type { Column } from "../../../components/Table.tsx"
import { Time } from "../../../components/Time.tsx"
import { ListCard } from "../List.tsx"
import { operatorJobsQuery } from "../queries.ts"
import { StatusSearchForm } from "../SearchForm.tsx"

type Job = ResponseOf<"GET /admin/v1/generations">["data"][number]

/** The page. */
export const OperatorJobs = () => {
  const search = useSearch({ from: "/operator/jobs" })
  const { status, ...texts } = search
  const navigate = useNavigate({ from: "/operator/jobs" })
  return (
    <Page title="Jobs" about="Jobs of all accounts, newest first." width="max-w-7xl">
      <StatusSearchForm
        key={JSON.stringify(search)}
        fields={[["account", "Account ID"], ["model", "Model"]]}
        texts={texts}
        status={status}
        statuses={statusOptions}
        onChange={(filters) => void navigate({ search: filters })}
      />
      <ListCard
        title="Jobs"
        empty="No jobs match."
        query={useInfiniteQuery(operatorJobsQuery(search))}
        rowKey={({ id }) => id}
        columns={jobColumns}
      />
    </Page>
  )
}

/** Columns of jobs for operators. */
export const jobColumns: ReadonlyArray<Column<Job>> = [
  {
    title: "Job",
    className: "w-full min-w-72 max-w-0",
    cell: ({ id, prompt }) => (
      <Link to="/operator/jobs/$id" params={{ id }} className="group block rounded">
        <JobTitle prompt={prompt} line={id} />
      </Link>
    )
  },
  { title: "Status", cell: ({ status }) => <JobStatus status={status} /> },
  { title: "Error", cell: ({ error }) => <span className="font-mono text-xs">{error?.code ?? "–"}</span> },
  {
    title: "Account",
    className: "max-w-40",
    cell: ({ account }) => (
      <Link
        to="/operator/accounts/$id"
        params={{ id: account }}
        className="block truncate font-mono text-xs hover:underline"
      >
        {account}
      </Link>
    )
  },
  { title: "Model", cell: ({ model }) => <span className="font-mono text-xs whitespace-nowrap">{model}</span> },
  { title: "Plan", cell: ({ plan }) => planName(plan) },
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> }
]
