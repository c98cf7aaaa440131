/** Text filters of a list. The page keeps them in the URL. */
import { type ReactNode, useState } from "react"
import { Button } from "../../components/Button.tsx"
import { Search } from "../../components/Icon.tsx"

/** A form with one input per filter. Searches on submit, so that each search is one request. */
export const SearchForm = <Name extends string>({ children, fields, onSearch, values }: {
  readonly fields: ReadonlyArray<readonly [name: Name, label: string]>
  readonly values: { readonly [K in Name]?: string | undefined }
  readonly onSearch: (values: { readonly [K in Name]?: string }) => void
  readonly children?: ReactNode
}) => {
  const [texts, setTexts] = useState<{ readonly [K in string]?: string | undefined }>(values)
  const search = (next: typeof texts) =>
    onSearch(
      Object.fromEntries(Object.entries(next).flatMap(([name, text]) => text?.trim() ? [[name, text.trim()]] : [])) as {
        readonly [K in Name]?: string
      }
    )
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
        <Search />Search
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
