/** The webhook endpoints of the account. */
import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { endpointsQuery } from "../../api/manage.ts"
import { isScopeMissing } from "../../api/problem.ts"
import { queryClient, sessionQuery } from "../../api/queries.ts"
import type { Endpoint } from "../../api/types.ts"
import { Badge } from "../../components/Badge.tsx"
import { Button } from "../../components/Button.tsx"
import { Card, Page } from "../../components/Card.tsx"
import { Icon } from "../../components/Icon.tsx"
import { LoadedTable } from "../../components/LoadedTable.tsx"
import { NoAccountRights } from "../../components/NoAccountRights.tsx"
import { SecretDialog } from "../../components/Secret.tsx"
import { Empty } from "../../components/States.tsx"
import type { Column } from "../../components/Table.tsx"
import { Time } from "../../components/Time.tsx"
import { EndpointDialog } from "./EndpointDialog.tsx"
import { typesText } from "./events.ts"

/** The page. */
export const Webhooks = () => {
  const { data: session } = useQuery(sessionQuery)
  return (
    <Page title="Webhooks" about="The service posts an event to your URL when a job starts, completes or fails.">
      <Endpoints canChange={session?.role !== "viewer"} />
    </Page>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Endpoints = ({ canChange }: { readonly canChange: boolean }) => {
  const query = useQuery(endpointsQuery(null))
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<{ readonly id: string; readonly secret: string } | null>(null)
  const navigate = useNavigate()
  if (isScopeMissing(query.error)) return <NoAccountRights what="manage webhooks" scope="webhooks" />
  const create = canChange && (
    <Button size="sm" variant="primary" onClick={() => setCreating(true)}>
      <Icon name="plus" />Add endpoint
    </Button>
  )
  return (
    <Card title="Endpoints" actions={query.data?.data.length === 0 ? undefined : create} flush>
      <LoadedTable
        label="Webhook endpoints"
        query={query}
        skeletonRows={3}
        rowKey={({ id }) => id}
        columns={columns}
        empty={
          <Empty title="No webhook endpoints" action={create}>
            Add one to receive events when a job starts, completes or fails.
          </Empty>
        }
      />
      {isCreating && (
        <EndpointDialog
          owner={null}
          onClose={() => setCreating(false)}
          onCreated={(endpoint) => {
            setCreating(false)
            setCreated(endpoint)
            void queryClient.invalidateQueries({ queryKey: ["endpoints"] })
          }}
        />
      )}
      {created !== null && (
        <SecretDialog
          title="The secret of the endpoint"
          about="It signs every event, so that your receiver can verify who sent it."
          what="secret"
          secret={created.secret}
          examples={[{ label: ".env", text: `KINORA_WEBHOOK_SECRET=${created.secret}` }]}
          onClose={() => void navigate({ to: "/webhooks/$id", params: { id: created.id } })}
        />
      )}
    </Card>
  )
}

const columns: ReadonlyArray<Column<Endpoint>> = [
  {
    title: "URL",
    className: "w-full min-w-64 max-w-0",
    cell: ({ id, url }) => (
      <Link to="/webhooks/$id" params={{ id }} className="block truncate font-medium hover:underline">{url}</Link>
    )
  },
  { title: "Events", cell: ({ types }) => <span className="whitespace-nowrap text-muted">{typesText(types)}</span> },
  {
    title: "Status",
    cell: ({ status }) => status === "enabled" ? <Badge tone="positive">Enabled</Badge> : <Badge>Disabled</Badge>
  },
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> }
]
