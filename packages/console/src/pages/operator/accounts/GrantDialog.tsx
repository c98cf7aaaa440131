/** The dialog that grants credits. */
import { useState } from "react"
import { call } from "../../../api/call.ts"
import { problemOf } from "../../../api/problem.ts"
import { FormDialog } from "../../../components/Dialog.tsx"
import { Checkbox, NumberField, SelectField } from "../../../components/Field.tsx"
import { inDays } from "../../../format/time.ts"
import { useChange } from "../useChange.ts"
import { ReferenceField } from "./ReferenceField.tsx"

const kinds = [
  { value: "addon", label: "Add-on" },
  { value: "plan", label: "Plan" },
  { value: "trial", label: "Trial" },
  { value: "refund", label: "Refund" }
] as const

/** Reference, kind, credits and expiry. The reference makes a repeated grant harmless. */
export const GrantDialog = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const [reference, setReference] = useState("")
  const [kind, setKind] = useState<typeof kinds[number]["value"]>("addon")
  const [credits, setCredits] = useState("100")
  const [days, setDays] = useState("365")
  const [imagesOnly, setImagesOnly] = useState(false)
  const grant = useChange(() =>
    call("POST /admin/v1/accounts/:id/lots", {
      params: { id },
      payload: {
        reference,
        kind,
        credits: Number(credits),
        expires_at: inDays(Number(days)),
        images_only: imagesOnly
      }
    }), onClose)
  const issues = problemOf(grant.error).issues
  return (
    <FormDialog
      title="Grant credits"
      submit="Grant credits"
      change={grant}
      invalid={reference === "" || !(Number(credits) >= 1) || !(Number(days) > 0)}
      onClose={onClose}
    >
      <ReferenceField value={reference} error={issues.get("reference")} onChange={setReference} />
      <div className="grid grid-cols-2 gap-4">
        <NumberField label="Credits" error={issues.get("credits")} value={credits} onChange={setCredits} />
        <NumberField label="Days until they expire" error={issues.get("expires_at")} value={days} onChange={setDays} />
      </div>
      <SelectField
        label="Kind"
        options={kinds}
        value={kind}
        help={kind === "trial" ? "Jobs of the API never use trial credits." : undefined}
        onChange={setKind}
      />
      <Checkbox
        label="For images only"
        checked={imagesOnly}
        onChange={(event) => setImagesOnly(event.target.checked)}
      />
    </FormDialog>
  )
}
