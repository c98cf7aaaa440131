/** The balance of an account and its changes. */
import { useInfiniteQuery } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../../api/call.ts"
import type { ResponseOf } from "../../../api/contract.ts"
import { problemOf } from "../../../api/problem.ts"
import type { OperatorAccount } from "../../../api/types.ts"
import { Badge } from "../../../components/Badge.tsx"
import { Button } from "../../../components/Button.tsx"
import { Figure, Figures } from "../../../components/Card.tsx"
import { CopyId } from "../../../components/Copy.tsx"
import { FormDialog } from "../../../components/Dialog.tsx"
import { NumberField } from "../../../components/Field.tsx"
import type { Column } from "../../../components/Table.tsx"
import { Time } from "../../../components/Time.tsx"
import { money } from "../../../format/number.ts"
import { capital } from "../../../format/text.ts"
import { ListCard } from "../List.tsx"
import { usePermits } from "../permits.ts"
import { movementsQuery } from "../queries.ts"
import { useChange } from "../useChange.ts"
import { ReferenceField } from "./ReferenceField.tsx"

/** The tab. */
export const Wallet = ({ account }: { readonly account: OperatorAccount }) => {
  const [open, setOpen] = useState<"deposit" | "debit" | null>(null)
  const canChange = usePermits("operator") && account.status !== "deleted" && account.status !== "erased"
  return (
    <div className="space-y-4">
      <Figures>
        <Figure label="Balance" value={money(account.balance_usd_cents)} note="pays for renewals" />
      </Figures>
      <ListCard
        title="Changes of the balance"
        empty="No changes yet."
        actions={canChange && (
          <>
            <Button size="sm" onClick={() => setOpen("debit")}>Take</Button>
            <Button size="sm" variant="primary" onClick={() => setOpen("deposit")}>Deposit</Button>
          </>
        )}
        query={useInfiniteQuery(movementsQuery(account.id))}
        rowKey={({ kind, reference }) => `${kind} ${reference}`}
        columns={columns}
      />
      {open !== null && <ChangeDialog id={account.id} kind={open} onClose={() => setOpen(null)} />}
    </div>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const columns: ReadonlyArray<Column<ResponseOf<"GET /admin/v1/accounts/:id/movements">["data"][number]>> = [
  { title: "Time", cell: ({ created_at }) => <Time at={created_at} /> },
  {
    title: "Kind",
    cell: ({ kind }) => <Badge tone={kind === "deposit" ? "positive" : "neutral"}>{capital(kind)}</Badge>
  },
  {
    title: "Reference",
    className: "max-w-64",
    cell: ({ reference }) => <CopyId id={reference} label="Copy reference" />
  },
  { title: "Amount", isNumber: true, cell: ({ usd_cents }) => money(usd_cents) },
  { title: "Balance after", isNumber: true, cell: ({ balance_usd_cents }) => money(balance_usd_cents) }
]

const ChangeDialog = ({ id, kind, onClose }: {
  readonly id: string
  readonly kind: "deposit" | "debit"
  readonly onClose: () => void
}) => {
  const [reference, setReference] = useState("")
  const [dollars, setDollars] = useState("")
  const cents = Math.round(Number(dollars) * 100)
  const change = useChange(async () => {
    const request = { params: { id }, payload: { reference, usd_cents: cents } }
    await (kind === "deposit"
      ? call("POST /admin/v1/accounts/:id/deposits", request)
      : call("POST /admin/v1/accounts/:id/debits", request))
  }, onClose)
  const title = kind === "deposit" ? "Add to the balance" : "Take from the balance"
  const issues = problemOf(change.error).issues
  return (
    <FormDialog
      title={title}
      submit={cents > 0
        ? `${kind === "deposit" ? "Deposit" : "Take"} ${money(cents)}`
        : kind === "deposit"
        ? "Deposit"
        : "Take"}
      change={change}
      invalid={reference === "" || !(cents >= 1)}
      onClose={onClose}
    >
      <ReferenceField value={reference} error={issues.get("reference")} onChange={setReference} />
      <NumberField
        label="Amount in US dollars"
        min={0.01}
        step={0.01}
        error={issues.get("usd_cents")}
        value={dollars}
        onChange={setDollars}
      />
    </FormDialog>
  )
}
