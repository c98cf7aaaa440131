/** The dialog that creates a webhook endpoint, and the fields that it shares with the settings of one. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { createEndpoint, type Owner } from "../../api/manage.ts"
import { problemOf } from "../../api/problem.ts"
import { FormDialog } from "../../components/Dialog.tsx"
import { Checkbox, type FormText, TextField } from "../../components/Field.tsx"
import { Segmented } from "../../components/Segmented.tsx"
import { eventTypes, urlProblem } from "./events.ts"

type EventType = typeof eventTypes[number]

/** The event types that a form has: `null` for all. */
export type ChosenTypes = ReadonlyArray<EventType> | null

/** The URL of an endpoint, checked while typing. */
export const UrlField = ({ error, onChange, value }: FormText) => (
  <TextField
    label="URL"
    type="url"
    required
    className="font-mono"
    placeholder="https://example.com/webhooks"
    help="HTTPS on port 443 or 8443, at a public address."
    value={value}
    error={value.length > 8 ? urlProblem(value) ?? error : error}
    onChange={onChange}
  />
)

/** The event types of an endpoint. */
export const TypesField = ({ onChange, value }: {
  readonly value: ChosenTypes
  readonly onChange: (value: ChosenTypes) => void
}) => (
  <div className="space-y-3">
    <Segmented
      label="Events"
      value={value === null ? "all" : "some"}
      onChange={(choice) => onChange(choice === "all" ? null : eventTypes)}
      options={[{ value: "all", label: "All events" }, { value: "some", label: "Chosen events" }]}
    />
    {value !== null && (
      <div className="space-y-2">
        {eventTypes.map((type) => (
          <Checkbox
            key={type}
            label={<code className="font-mono text-xs">{type}</code>}
            checked={value.includes(type)}
            onChange={(event) =>
              onChange(event.target.checked ? [...value, type] : value.filter((one) => one !== type))}
          />
        ))}
      </div>
    )}
  </div>
)

/** URL and events. */
export const EndpointDialog = ({ onClose, onCreated, owner }: {
  readonly owner: Owner
  readonly onClose: () => void
  readonly onCreated: (endpoint: { readonly id: string; readonly secret: string }) => void
}) => {
  const [url, setUrl] = useState("")
  const [types, setTypes] = useState<ChosenTypes>(null)
  const create = useMutation({ mutationFn: () => createEndpoint(owner, { url, types }), onSuccess: onCreated })
  const problem = problemOf(create.error)
  const isAboutUrl = problem.code === "invalid_webhook_url"
  return (
    <FormDialog
      title="Add a webhook endpoint"
      submit="Add endpoint"
      change={isAboutUrl ? { ...create, error: null } : create}
      invalid={url === "" || types?.length === 0}
      onClose={onClose}
    >
      <UrlField value={url} onChange={setUrl} error={isAboutUrl ? problem.detail : problem.issues.get("url")} />
      <TypesField value={types} onChange={setTypes} />
    </FormDialog>
  )
}
