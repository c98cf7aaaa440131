/** The dialog that sets a plan. */
import { useState } from "react"
import { call } from "../../../api/call.ts"
import type { Plan } from "../../../api/types.ts"
import { FormDialog } from "../../../components/Dialog.tsx"
import { Checkbox, NumberField, SelectField } from "../../../components/Field.tsx"
import { planName } from "../../../components/JobStatus.tsx"
import { capital } from "../../../format/text.ts"
import { inDays } from "../../../format/time.ts"
import { useChange } from "../useChange.ts"

const studioTiers = ["starter", "pro", "scale"] as const
const creditsTiers = ["starter", "pro", "business"] as const

/** Tier, period and renewal. */
export const PlanDialog = ({ id, onClose, plan }: {
  readonly id: string
  readonly plan: Plan
  readonly onClose: () => void
}) => {
  const tiers: ReadonlyArray<string> = plan === "studio" ? studioTiers : creditsTiers
  const [tier, setTier] = useState("pro")
  const [days, setDays] = useState("30")
  const [renews, setRenews] = useState(false)
  const set = useChange(() => {
    const rest = { period_end: inDays(Number(days)), auto_renew: renews }
    return plan === "studio"
      ? call("PUT /admin/v1/accounts/:id/plans/studio", {
        params: { id },
        payload: { ...rest, tier: studioTiers.find((one) => one === tier) ?? "pro" }
      })
      : call("PUT /admin/v1/accounts/:id/plans/credits", {
        params: { id },
        payload: { ...rest, tier: creditsTiers.find((one) => one === tier) ?? "pro" }
      })
  }, onClose)
  return (
    <FormDialog
      title={`Set the ${planName(plan)} plan`}
      about={plan === "credits"
        ? "Replaces the current one. Grants no credits for this period."
        : "Replaces the current one."}
      submit="Set plan"
      change={set}
      invalid={!(Number(days) > 0)}
      onClose={onClose}
    >
      <SelectField
        label="Tier"
        options={tiers.map((value) => ({ value, label: capital(value) }))}
        value={tier}
        onChange={setTier}
      />
      <NumberField label="Days until the period ends" value={days} onChange={setDays} />
      <Checkbox
        label="Renew from the balance"
        help="At the end of the period. The plan ends if the balance is too low."
        checked={renews}
        onChange={(event) => setRenews(event.target.checked)}
      />
    </FormDialog>
  )
}
