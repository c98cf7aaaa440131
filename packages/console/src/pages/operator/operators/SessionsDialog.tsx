/** The dialog with the sessions of an operator. */
import { useMutation, useQuery } from "@tanstack/react-query"
import { call } from "../../../api/call.ts"
import type { ResponseOf } from "../../../api/contract.ts"
import { queryClient } from "../../../api/queries.ts"
import { Button } from "../../../components/Button.tsx"
import { Dialog } from "../../../components/Dialog.tsx"
import { LoadedTable } from "../../../components/LoadedTable.tsx"
import { Problem } from "../../../components/Problem.tsx"
import { Empty } from "../../../components/States.tsx"
import type { Column } from "../../../components/Table.tsx"
import { Time } from "../../../components/Time.tsx"
import { deviceName } from "../../../format/device.ts"
import { operatorSessionsQuery } from "../queries.ts"

type OperatorSession = ResponseOf<"GET /admin/v1/operators/:id/sessions">["data"][number]

/** Lists the sessions of an operator, and ends one or all. `id` is `owner` for the owner's token. */
export const SessionsDialog = ({ canChange, id, name, onClose }: {
  readonly id: string
  readonly name: string
  readonly canChange: boolean
  readonly onClose: () => void
}) => {
  const query = useQuery(operatorSessionsQuery(id))
  const end = useMutation({
    mutationFn: (session: string | null) =>
      session === null
        ? call("DELETE /admin/v1/operators/:id/sessions", { params: { id } })
        : call("DELETE /admin/v1/operators/:id/sessions/:session_id", { params: { id, session_id: session } }),
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: operatorSessionsQuery(id).queryKey })
  })
  const hasSessions = (query.data?.data.length ?? 0) > 0
  return (
    <Dialog
      wide
      title={`Sessions of ${name}`}
      about="A session that is ended is rejected at once. Tokens of the operator still work."
      onClose={onClose}
      footer={canChange && hasSessions
        ? <Button variant="danger" busy={end.isPending} onClick={() => end.mutate(null)}>End all sessions</Button>
        : undefined}
    >
      {end.isError && <Problem title="The session was not ended" error={end.error} />}
      <LoadedTable
        label={`Sessions of ${name}`}
        what="Sessions"
        query={query}
        skeletonRows={3}
        rowKey={({ id }) => id}
        columns={canChange ? [...columns, endColumn(end.mutate)] : columns}
        empty={<Empty title="No sessions">The operator is not signed in to the console.</Empty>}
      />
    </Dialog>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const columns: ReadonlyArray<Column<OperatorSession>> = [
  {
    title: "Device",
    className: "min-w-40",
    cell: ({ address, device }) => (
      <>
        <span className="block font-medium" title={device ?? undefined}>{deviceName(device)}</span>
        <span className="block font-mono text-xs text-muted">{address}</span>
      </>
    )
  },
  { title: "Signed in", cell: ({ created_at }) => <Time at={created_at} /> },
  { title: "Last seen", cell: ({ seen_at }) => <Time at={seen_at} /> },
  { title: "Ends", cell: ({ expires_at }) => <Time at={expires_at} /> }
]

const endColumn = (end: (id: string) => void): Column<OperatorSession> => ({
  title: <span className="sr-only">Actions</span>,
  isNumber: true,
  cell: ({ device, id }) => (
    <Button
      size="sm"
      aria-label={`End the session of ${deviceName(device)}`}
      onClick={() => end(id)}
    >
      End
    </Button>
  )
})
