/** The dialog that grants credits. */
import { useState } from "react"
import { call } from "../../../api/call.ts"
import type { RequestOf } from "../../../api/contract.ts"
import { problemOf } from "../../../api/problem.ts"
import { FormDialog } from "../../../components/Dialog.tsx"
import { Checkbox, SelectField, TextField } from "../../../components/Field.tsx"
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
  const grant = useGrant(id, onClose)
  const issues = problemOf(grant.error).issues
  return (
    <FormDialog
      title="Grant credits"
      submit="Grant credits"
      change={grant}
      invalid={reference === "" || !(Number(credits) >= 1) || !(Number(days) > 0)}
      onClose={onClose}
      onSubmit={() =>
        grant.mutate({
          reference,
          kind,
          credits: Number(credits),
          expires_at: inDays(Number(days)),
          images_only: imagesOnly
        })}
    >
      <ReferenceField
        help="Names the grant. The same reference never grants twice."
        value={reference}
        error={issues.get("reference")}
        onChange={setReference}
      />
      <div className="grid grid-cols-2 gap-4">
        <TextField
          label="Credits"
          type="number"
          min={1}
          required
          error={issues.get("credits")}
          value={credits}
          onChange={(event) => setCredits(event.target.value)}
        />
        <TextField
          label="Days until they expire"
          type="number"
          min={1}
          required
          error={issues.get("expires_at")}
          value={days}
          onChange={(event) => setDays(event.target.value)}
        />
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

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const useGrant = (id: string, onDone: () => void) =>
  useChange(
    (payload: RequestOf<"POST /admin/v1/accounts/:id/lots">["payload"]) =>
      call("POST /admin/v1/accounts/:id/lots", { params: { id }, payload }),
    onDone
  )
