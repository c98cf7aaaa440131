/** A webhook endpoint: its sends, its deliveries, how to verify it, and its settings. */
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { endpointQuery } from "../../api/manage.ts"
import { sessionQuery } from "../../api/queries.ts"
import { Badge, Notice } from "../../components/Badge.tsx"
import { Page } from "../../components/Card.tsx"
import { CopyId } from "../../components/Copy.tsx"
import { Loaded, Skeleton } from "../../components/States.tsx"
import { Tabs } from "../../components/Tabs.tsx"
import { Deliveries } from "./Deliveries.tsx"
import { EndpointSettings } from "./EndpointSettings.tsx"
import { typesText } from "./events.ts"
import { type EndpointTab, endpointTabs } from "./search.ts"
import { Sends } from "./Sends.tsx"
import { Verify } from "./Verify.tsx"

/** The page. */
export const EndpointPage = () => {
  const { id } = useParams({ from: "/webhooks/$id" })
  const { tab = "sends" } = useSearch({ from: "/webhooks/$id" })
  const navigate = useNavigate({ from: "/webhooks/$id" })
  const { data: session } = useQuery(sessionQuery)
  const canChange = session?.role !== "viewer"
  const tabs = canChange ? endpointTabs : endpointTabs.filter(([name]) => name !== "settings")
  return (
    <Loaded query={useQuery(endpointQuery(id))} what="The endpoint" loading={<Skeleton className="m-8 h-64" />}>
      {(endpoint) => (
        <Page
          title={endpoint.url}
          about={
            <span className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
              <Link to="/webhooks" className="underline">All endpoints</Link>
              {endpoint.status === "enabled" ? <Badge tone="positive">Enabled</Badge> : <Badge>Disabled</Badge>}
              <span>{typesText(endpoint.types)}</span>
              <CopyId id={endpoint.id} />
            </span>
          }
        >
          {endpoint.status === "disabled" && (
            <Notice tone="warning" title="This endpoint is disabled">
              Events that happen while it is disabled are not sent later. Enable it in the settings.
            </Notice>
          )}
          <section aria-label="Endpoint" className="card min-w-0 overflow-hidden">
            <Tabs<EndpointTab>
              label="Endpoint"
              tabs={tabs}
              value={tab}
              onChange={(tab) => void navigate({ search: { tab }, replace: true })}
            >
              {tab === "sends" && <Sends endpoint={endpoint} canChange={canChange} />}
              {tab === "deliveries" && <Deliveries endpoint={endpoint} canChange={canChange} />}
              {tab === "verify" && <Verify />}
              {tab === "settings" && <EndpointSettings key={endpoint.id} endpoint={endpoint} />}
            </Tabs>
          </section>
        </Page>
      )}
    </Loaded>
  )
}
