/** The dialog that creates an API key. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { createKey, type Owner } from "../../api/manage.ts"
import { problemOf } from "../../api/problem.ts"
import type { NewApiKey } from "../../api/types.ts"
import { FormDialog } from "../../components/Dialog.tsx"
import { Checkbox, SelectField, TextField } from "../../components/Field.tsx"
import { inDays } from "../../format/time.ts"
import type { Budget } from "./budget.ts"
import { BudgetFields } from "./BudgetFields.tsx"
import { KeyNameField } from "./KeyNameField.tsx"

const scopes = [
  ["generate", "Create and cancel jobs, upload images"],
  ["read", "Read jobs, results and models"],
  ["account:read", "Read the account and its usage"],
  ["webhooks", "Manage webhook endpoints"]
] as const

type Scope = typeof scopes[number][0]

const expiries = [
  { value: "", label: "Never" },
  { value: "7", label: "In 7 days" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In 1 year" }
]

/** Returns the words of a text, which spaces, commas or lines separate. */
const wordsOf = (text: string) => text.split(/[\s,]+/).filter((word) => word !== "")

/** Name, expiry and restrictions. */
export const CreateKeyDialog = ({ onClose, onCreated, owner }: {
  readonly owner: Owner
  readonly onClose: () => void
  readonly onCreated: (key: NewApiKey) => void
}) => {
  const [name, setName] = useState("")
  const [days, setDays] = useState("")
  const [chosen, setChosen] = useState<ReadonlyArray<Scope>>(scopes.map(([scope]) => scope))
  const [models, setModels] = useState("")
  const [networks, setNetworks] = useState("")
  const [budget, setBudget] = useState<Budget>({})
  const [onlyModels, onlyNetworks] = [wordsOf(models), wordsOf(networks)]
  const create = useMutation({
    mutationFn: () =>
      createKey(owner, {
        name: name.trim(),
        ...(days === "" ? {} : { expires_at: inDays(Number(days)) }),
        ...(chosen.length < scopes.length && isAtLeastOne(chosen) ? { scopes: chosen } : {}),
        ...(isAtLeastOne(onlyModels) ? { models: onlyModels } : {}),
        ...(isAtLeastOne(onlyNetworks) ? { ip_ranges: onlyNetworks } : {}),
        ...(Object.keys(budget).length > 0 ? { budget } : {})
      }),
    onSuccess: onCreated
  })
  const issues = problemOf(create.error).issues
  return (
    <FormDialog
      title="Create an API key"
      submit="Create key"
      change={create}
      invalid={name.trim() === "" || chosen.length === 0}
      onClose={onClose}
    >
      <KeyNameField value={name} onChange={setName} error={issues.get("name")} />
      <SelectField label="Expires" options={expiries} value={days} onChange={setDays} />
      <Scopes chosen={chosen} onChange={setChosen} />
      <Restrictions {...{ issues, models, networks }} onModels={setModels} onNetworks={setNetworks} />
      <details className="rounded-lg border border-line px-3.5 py-2.5">
        <summary className="cursor-pointer text-sm font-medium">Limit what it can spend</summary>
        <div className="pt-3 pb-1">
          <BudgetFields budget={budget} issues={issues} onChange={setBudget} />
        </div>
      </details>
    </FormDialog>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type AtLeastOne<T> = readonly [T, ...ReadonlyArray<T>]

const isAtLeastOne = <T extends string>(list: ReadonlyArray<T>): list is AtLeastOne<T> => list.length > 0

const Scopes = ({ chosen, onChange }: {
  readonly chosen: ReadonlyArray<Scope>
  readonly onChange: (chosen: ReadonlyArray<Scope>) => void
}) => (
  <fieldset className="space-y-2">
    <legend className="mb-1.5 text-sm font-medium">Permits</legend>
    {scopes.map(([scope, about]) => (
      <Checkbox
        key={scope}
        label={<code className="font-mono text-xs">{scope}</code>}
        help={about}
        checked={chosen.includes(scope)}
        onChange={(event) =>
          onChange(event.target.checked ? [...chosen, scope] : chosen.filter((one) => one !== scope))}
      />
    ))}
  </fieldset>
)

const Restrictions = ({ issues, models, networks, onModels, onNetworks }: {
  readonly issues: ReadonlyMap<string, string>
  readonly models: string
  readonly networks: string
  readonly onModels: (text: string) => void
  readonly onNetworks: (text: string) => void
}) => (
  <details className="rounded-lg border border-line px-3.5 py-2.5">
    <summary className="cursor-pointer text-sm font-medium">Restrict to models and networks</summary>
    <div className="space-y-4 pt-3 pb-1">
      <TextField
        label="Models"
        className="font-mono"
        placeholder="All models"
        help="Ids, separated by spaces."
        value={models}
        error={issues.get("models")}
        onChange={onModels}
      />
      <TextField
        label="Networks"
        className="font-mono"
        placeholder="192.0.2.0/24 2001:db8::/32"
        help="Addresses or networks, separated by spaces."
        value={networks}
        error={[...issues].find(([path]) => path.startsWith("ip_ranges"))?.[1]}
        onChange={onNetworks}
      />
    </div>
  </details>
)
