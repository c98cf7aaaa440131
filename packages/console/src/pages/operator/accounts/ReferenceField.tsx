/** The reference of a change of credits or of the balance. */
import { type FormText, TextField } from "../../../components/Field.tsx"

/** A field for the reference, which is required. */
export const ReferenceField = (props: FormText) => (
  <TextField
    label="Reference"
    required
    maxLength={128}
    placeholder="invoice-1024"
    help="Names the change. The same reference never applies twice."
    {...props}
  />
)
