/** The list of jobs, with the panel of one job above it. */
import { useInfiniteQuery } from "@tanstack/react-query"
import { Outlet, useSearch } from "@tanstack/react-router"
import { jobsQuery } from "../../api/queries.ts"
import { LinkButton } from "../../components/Button.tsx"
import { Card, Page } from "../../components/Card.tsx"
import { Icon } from "../../components/Icon.tsx"
import { Problem } from "../../components/Problem.tsx"
import { Empty, SkeletonRows } from "../../components/States.tsx"
import { LoadMore } from "../../components/Table.tsx"
import { plural } from "../../format/number.ts"
import { JobFilterBar, JobView } from "./JobFilterBar.tsx"
import { JobGrid } from "./JobGrid.tsx"
import { JobTable } from "./JobTable.tsx"
import { filtersOf } from "./search.ts"

/** The page. */
export const Jobs = () => {
  const search = useSearch({ from: "/jobs" })
  const filters = filtersOf(search)
  const isFiltered = Object.keys(filters).length > 0
  const query = useInfiniteQuery(jobsQuery(filters))
  const jobs = query.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <Page
      title="Jobs"
      about="Every image and video of the account, newest first."
      width="max-w-7xl"
      actions={
        <LinkButton to="/playground" variant="primary">
          <Icon name="sparkles" />Generate
        </LinkButton>
      }
    >
      <JobFilterBar search={search} />
      <Card
        title={query.isSuccess ? plural(jobs.length, "job") + (query.hasNextPage ? " shown" : "") : "Jobs"}
        actions={<JobView search={search} />}
        flush
      >
        {query.isPending && <SkeletonRows rows={8} />}
        {query.isError && (
          <div className="p-5">
            <Problem title="Jobs could not be loaded" error={query.error} onRetry={() => void query.refetch()} />
          </div>
        )}
        {query.isSuccess && jobs.length === 0 && <NoJobs isFiltered={isFiltered} />}
        {jobs.length > 0 && (search.view === "grid" ? <JobGrid jobs={jobs} /> : <JobTable jobs={jobs} />)}
        <LoadMore query={query} />
      </Card>
      <Outlet />
    </Page>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const NoJobs = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered
    ? (
      <Empty
        title="No jobs match these filters"
        action={<LinkButton to="/jobs" search={{}}>Clear filters</LinkButton>}
      />
    )
    : (
      <Empty
        title="No jobs yet"
        action={<LinkButton to="/playground" variant="primary">Open the Playground</LinkButton>}
      >
        Create one in the Playground or with the API.
      </Empty>
    )
