/** The first page: what is left, what runs, and the latest jobs. */
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { accountQuery, recentQuery, sessionQuery, summaryQuery } from "../../api/queries.ts"
import type { Account } from "../../api/types.ts"
import { Notice } from "../../components/Badge.tsx"
import { LinkButton } from "../../components/Button.tsx"
import { Card, Page } from "../../components/Card.tsx"
import { Icon } from "../../components/Icon.tsx"
import { JobStatus } from "../../components/JobStatus.tsx"
import { JobTitle } from "../../components/JobTitle.tsx"
import { Loaded, Skeleton, SkeletonRows } from "../../components/States.tsx"
import { Thumb } from "../../components/Thumb.tsx"
import { Time } from "../../components/Time.tsx"
import { CreditsCard, DownloadsCard, QueueCard, StudioCard } from "./cards.tsx"
import { Checklist } from "./Checklist.tsx"

/** The page. */
export const Overview = () => {
  const account = useQuery(accountQuery)
  const { data: session } = useQuery(sessionQuery)
  return (
    <Page
      title="Overview"
      about={session?.account?.email}
      actions={
        <LinkButton to="/playground" variant="primary">
          <Icon name="sparkles" />Generate
        </LinkButton>
      }
    >
      <Loaded query={account} what="The account" loading={<Skeleton className="h-64" />}>
        {(account) => (
          <>
            <Warnings account={account} />
            <Checklist canManage={session?.scope === "account"} />
            <div className="grid gap-4 md:grid-cols-2 xl:grid-cols-3">
              <StudioCard account={account} />
              <CreditsCard account={account} />
              <div className="grid gap-4 md:max-xl:col-span-2 md:max-xl:grid-cols-2">
                <QueueCard account={account} />
                <DownloadsCard account={account} />
              </div>
            </div>
          </>
        )}
      </Loaded>
      <Latest />
    </Page>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Warnings = ({ account }: { readonly account: Account }) => {
  const summary = useQuery(summaryQuery)
  const quota = account.plans.studio.quota
  return (
    <>
      {quota !== null && quota.image.remaining === 0 && (
        <Notice tone="warning" title={`You have used all ${quota.image.limit} images for today`}>
          The quota resets at 00:00 UTC. You can still use credits.
        </Notice>
      )}
      {summary.data?.warnings.map(({ code, message }) => <Notice key={code} tone="warning" title={message} />)}
    </>
  )
}

const Latest = () => (
  <Card title="Latest jobs" actions={<LinkButton to="/jobs" size="sm" variant="ghost">All jobs</LinkButton>} flush>
    <Loaded query={useQuery(recentQuery)} what="Jobs" loading={<SkeletonRows />}>
      {({ data }) =>
        data.length === 0
          ? <p className="px-5 pb-5 text-muted">No jobs yet. Create one in the Playground or with the API.</p>
          : (
            <ul className="divide-y divide-line border-t border-line">
              {data.slice(0, 6).map((job) => (
                <li key={job.id}>
                  <Link
                    to="/jobs/$id"
                    params={{ id: job.id }}
                    className="flex items-center gap-3 px-5 py-2.5 transition-colors duration-150 hover:bg-raised focus-visible:-outline-offset-2"
                  >
                    <Thumb job={job} className="size-10 rounded-md border border-line" />
                    <span className="min-w-0 flex-1">
                      <JobTitle prompt={job.prompt} line={job.model} />
                    </span>
                    <JobStatus status={job.status} />
                    <span className="w-28 text-right text-sm text-muted max-sm:hidden">
                      <Time at={job.created_at} />
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
          )}
    </Loaded>
  </Card>
)
