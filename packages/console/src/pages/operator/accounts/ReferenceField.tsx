/** The reference of a change of credits or of the balance. */
import { TextField } from "../../../components/Field.tsx"

/** A field for the reference, which is required. */
export const ReferenceField = ({ error, onChange, value }: {
  readonly error: string | undefined
  readonly value: string
  readonly onChange: (reference: string) => void
}) => (
  <TextField
    label="Reference"
    required
    maxLength={128}
    placeholder="invoice-1024"
    help="Names the change. The same reference never applies twice."
    error={error}
    value={value}
    onChange={onChange}
  />
)
