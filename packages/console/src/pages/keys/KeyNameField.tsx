/** The name of an API key. */
import { type FormText, TextField } from "../../components/Field.tsx"

/** A field for the name, which is required. */
export const KeyNameField = (props: FormText) => (
  <TextField label="Name" required maxLength={100} placeholder="Production server" {...props} />
)
