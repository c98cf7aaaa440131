/** Text filters of a list. The page keeps them in the URL. */
import { type ReactNode, useState } from "react"
import { Button } from "../../components/Button.tsx"
import { FilterSelect } from "../../components/Field.tsx"
import { Icon } from "../../components/Icon.tsx"

/** The text filters of a list that are set. */
type Texts<Name extends string> = { readonly [K in Name]?: string }

/** `SearchForm` with a filter by status. `onChange` receives all filters. */
export const StatusSearchForm = <Name extends string, Status extends string>(
  { fields, onChange, status, statuses, texts }: {
    readonly fields: ReadonlyArray<readonly [name: Name, label: string]>
    readonly texts: Texts<Name>
    readonly status: Status | undefined
    readonly statuses: ReadonlyArray<readonly [value: Status, label: string]>
    readonly onChange: (filters: Texts<Name> & { readonly status?: Status }) => void
  }
) => {
  const change = (texts: Texts<Name>, status: Status | undefined) =>
    onChange(status === undefined ? texts : { ...texts, status })
  return (
    <SearchForm fields={fields} values={texts} onSearch={(texts) => change(texts, status)}>
      <FilterSelect label="Status" value={status} options={statuses} onChange={(status) => change(texts, status)} />
    </SearchForm>
  )
}

/** A form with one input per filter. Searches on submit, so that each search is one request. */
export const SearchForm = <Name extends string>({ children, fields, onSearch, values }: {
  readonly fields: ReadonlyArray<readonly [name: Name, label: string]>
  readonly values: { readonly [K in Name]?: string | undefined }
  readonly onSearch: (values: Texts<Name>) => void
  readonly children?: ReactNode
}) => {
  const [texts, setTexts] = useState<{ readonly [K in string]?: string | undefined }>(values)
  const search = (next: typeof texts) => {
    const set = Object.entries(next).flatMap(([name, text]) => text?.trim() ? [[name, text.trim()]] : [])
    onSearch(Object.fromEntries(set) as Texts<Name>)
  }
  const isFiltered = fields.some(([name]) => values[name] !== undefined)
  return (
    <form
      role="search"
      className="flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        search(texts)
      }}
    >
      {fields.map(([name, label]) => (
        <input
          key={name}
          type="search"
          aria-label={label}
          placeholder={label}
          className="control !w-56 text-sm"
          maxLength={254}
          value={texts[name] ?? ""}
          onChange={(event) => setTexts({ ...texts, [name]: event.target.value })}
        />
      ))}
      {children}
      <Button type="submit">
        <Icon name="search" />Search
      </Button>
      {isFiltered && (
        <Button
          variant="ghost"
          onClick={() => {
            setTexts({})
            search({})
          }}
        >
          Clear
        </Button>
      )}
    </form>
  )
}
