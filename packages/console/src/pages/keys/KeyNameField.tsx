/** The name of an API key. */
import { TextField } from "../../components/Field.tsx"

/** A field for the name, which is required. */
export const KeyNameField = ({ error, onChange, value }: {
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (name: string) => void
}) => (
  <TextField
    label="Name"
    required
    maxLength={100}
    placeholder="Production server"
    value={value}
    error={error}
    onChange={onChange}
  />
)
