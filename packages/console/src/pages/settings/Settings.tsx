/** Members, sessions and appearance. */
import { useMutation, useQuery } from "@tanstack/react-query"
import { call } from "../../api/call.ts"
import { queryClient, sessionQuery, sessionsQuery } from "../../api/queries.ts"
import type { ListedSession, Session } from "../../api/types.ts"
import { Badge } from "../../components/Badge.tsx"
import { Button } from "../../components/Button.tsx"
import { Card, Facts, Page } from "../../components/Card.tsx"
import { Problem } from "../../components/Problem.tsx"
import { Segmented } from "../../components/Segmented.tsx"
import { Loaded, SkeletonRows } from "../../components/States.tsx"
import { type Column, Table } from "../../components/Table.tsx"
import { Time } from "../../components/Time.tsx"
import { deviceName } from "../../format/device.ts"
import { capital } from "../../format/text.ts"
import { useDensity, useTheme } from "../../shell/Theme.tsx"
import { MemberManager } from "../members/MemberManager.tsx"

/** The page. */
export const Settings = () => {
  const { data: session } = useQuery(sessionQuery)
  return (
    <Page title="Settings" width="max-w-4xl">
      {session !== undefined && session !== null && <Who session={session} />}
      {session?.scope === "account" && <MemberManager owner={null} canChange={session.role === "member"} />}
      <Sessions />
      <Appearance />
    </Page>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const scopeNames = { key: "API key", account: "Link or identity provider", operator: "Operator" } as const

const Who = ({ session }: { readonly session: Session }) => (
  <Card title="This session">
    <Facts
      facts={[
        ["Account", session.account === null ? null : session.account.email ?? session.account.id],
        [session.member === null ? "Name" : "Member", session.name],
        ["Signed in with", scopeNames[session.scope]],
        ["Role", capital(session.role)],
        ["Ends", <Time key="end" at={session.expires_at} />],
        ["Ends unless used", <Time key="idle" at={session.idle_expires_at} />]
      ]}
    />
  </Card>
)

const Sessions = () => {
  const query = useQuery(sessionsQuery)
  const end = useMutation({
    mutationFn: (id: string | null) =>
      id === null
        ? call("DELETE /console/v1/sessions", {})
        : call("DELETE /console/v1/sessions/:id", { params: { id } }),
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: ["sessions"] })
  })
  const hasOthers = query.data?.data.some(({ current }) => !current) ?? false
  return (
    <Card
      title="Sessions"
      actions={hasOthers && (
        <Button
          size="sm"
          variant="danger"
          busy={end.isPending}
          onClick={() => end.mutate(null)}
        >
          Sign out everywhere else
        </Button>
      )}
      flush
    >
      {end.isError && (
        <div className="px-5 pb-4">
          <Problem title="The session was not ended" error={end.error} />
        </div>
      )}
      <Loaded query={query} what="Sessions" loading={<SkeletonRows rows={3} />}>
        {({ data }) => (
          <Table
            label="Sessions"
            rows={data}
            rowKey={({ id }) => id}
            columns={[...columns, endColumn(end.mutate)]}
          />
        )}
      </Loaded>
    </Card>
  )
}

const columns: ReadonlyArray<Column<ListedSession>> = [
  {
    title: "Device",
    className: "min-w-48",
    cell: ({ address, current, device }) => (
      <>
        <span className="flex items-center gap-2 font-medium" title={device ?? undefined}>
          {deviceName(device)}
          {current && <Badge tone="positive">This session</Badge>}
        </span>
        <span className="block font-mono text-xs text-muted">{address}</span>
      </>
    )
  },
  { title: "Signed in with", cell: ({ scope }) => scopeNames[scope] },
  { title: "Signed in", cell: ({ created_at }) => <Time at={created_at} /> },
  { title: "Last seen", cell: ({ seen_at }) => <Time at={seen_at} /> },
  { title: "Ends", cell: ({ expires_at }) => <Time at={expires_at} /> }
]

const endColumn = (end: (id: string) => void): Column<ListedSession> => ({
  title: <span className="sr-only">Actions</span>,
  isNumber: true,
  cell: ({ current, device, id }) =>
    !current && (
      <Button size="sm" aria-label={`End the session of ${deviceName(device)}`} onClick={() => end(id)}>End</Button>
    )
})

const Appearance = () => {
  const [theme, setTheme] = useTheme()
  const [density, setDensity] = useDensity()
  return (
    <Card title="Appearance">
      <div className="flex flex-wrap gap-6">
        <Segmented
          label="Theme"
          value={theme}
          onChange={setTheme}
          options={[{ value: "system", label: "System" }, { value: "light", label: "Light" }, {
            value: "dark",
            label: "Dark"
          }]}
        />
        <Segmented
          label="Tables"
          value={density}
          onChange={setDensity}
          options={[{ value: "comfortable", label: "Comfortable" }, { value: "compact", label: "Compact" }]}
        />
      </div>
    </Card>
  )
}
