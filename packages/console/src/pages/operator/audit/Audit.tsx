/** The audit log. */
import { useInfiniteQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import type { ResponseOf } from "../../../api/contract.ts"
import { Button } from "../../../components/Button.tsx"
import { Page } from "../../../components/Card.tsx"
import { CodeCard } from "../../../components/Code.tsx"
import { CopyId } from "../../../components/Copy.tsx"
import { Dialog } from "../../../components/Dialog.tsx"
import { Icon } from "../../../components/Icon.tsx"
import type { Column } from "../../../components/Table.tsx"
import { Time } from "../../../components/Time.tsx"
import { csv, download } from "../../../format/csv.ts"
import { utc } from "../../../format/time.ts"
import { ListCard, rowsOf } from "../List.tsx"
import { auditQuery } from "../queries.ts"
import { SearchForm } from "../SearchForm.tsx"

type Entry = ResponseOf<"GET /admin/v1/audit">["data"][number]

/** The page. */
export const Audit = () => {
  const search = useSearch({ from: "/operator/audit" })
  const navigate = useNavigate({ from: "/operator/audit" })
  const query = useInfiniteQuery(auditQuery(search))
  const [shown, setShown] = useState<Entry | null>(null)
  const rows = rowsOf(query)
  return (
    <Page
      title="Audit log"
      about="Changes that operators made. Entries are written together with the change."
      width="max-w-7xl"
      actions={
        <Button disabled={rows.length === 0} onClick={() => exportEntries(rows)}>
          <Icon name="download" />Export CSV
        </Button>
      }
    >
      <SearchForm
        fields={[["actor", "Operator ID"], ["action", "Operation"], ["subject", "Object ID"]]}
        values={search}
        onSearch={(values) => void navigate({ search: values })}
      />
      <ListCard
        title="Entries"
        empty="No entries match."
        query={query}
        rowKey={({ id }) => id}
        columns={[...columns, showColumn(setShown)]}
      />
      {shown !== null && (
        <Dialog title={shown.action} about={utc(shown.at)} wide onClose={() => setShown(null)}>
          <CodeCard label="Entry" text={JSON.stringify(shown, null, 2)} />
        </Dialog>
      )}
    </Page>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const exportEntries = (rows: ReadonlyArray<Entry>) =>
  download(
    "kinora-audit.csv",
    csv(
      ["at", "actor", "role", "action", "subject", "address", "request_id"],
      rows.map((
        { action, actor, address, at, request_id, role, subject }
      ) => [at, actor, role, action, subject, address, request_id])
    )
  )

const columns: ReadonlyArray<Column<Entry>> = [
  { title: "Time", cell: ({ at }) => <Time at={at} /> },
  {
    title: "Operator",
    cell: ({ actor, role }) => (
      <>
        <span className="block font-mono text-xs">{actor}</span>
        {role !== actor && <span className="block text-xs text-muted">{role}</span>}
      </>
    )
  },
  { title: "Operation", cell: ({ action }) => <span className="font-mono text-xs">{action}</span> },
  { title: "Object", className: "max-w-64", cell: ({ subject }) => subject === null ? "–" : <CopyId id={subject} /> },
  { title: "Address", cell: ({ address }) => <span className="font-mono text-xs">{address}</span> }
]

const showColumn = (show: (entry: Entry) => void): Column<Entry> => ({
  title: <span className="sr-only">Actions</span>,
  isNumber: true,
  cell: (entry) => <Button size="sm" aria-label={`Show ${entry.action}`} onClick={() => show(entry)}>Show</Button>
})
