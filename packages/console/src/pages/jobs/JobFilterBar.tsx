/** The filters of the list of jobs. */
import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { keysQuery } from "../../api/manage.ts"
import { modelsQuery, sessionQuery } from "../../api/queries.ts"
import { FilterSelect } from "../../components/Field.tsx"
import { Icon } from "../../components/Icon.tsx"
import { statusOptions } from "../../components/JobStatus.tsx"
import { Segmented } from "../../components/Segmented.tsx"
import type { JobSearch } from "./search.ts"

type Change = { readonly [K in keyof JobSearch]?: JobSearch[K] | undefined }

/** Filters, kept in the URL. */
export const JobFilterBar = ({ search }: { readonly search: JobSearch }) => {
  const set = useChange()
  return (
    <div
      role="search"
      aria-label="Jobs"
      className="flex items-center gap-2 max-sm:w-full max-sm:overflow-x-auto max-sm:p-0.5 sm:flex-wrap"
    >
      <PromptSearch key={search.q} text={search.q} onSearch={(q) => set({ q })} />
      <FilterSelect
        label="Status"
        value={search.status}
        options={statusOptions}
        onChange={(status) => set({ status })}
      />
      <FilterSelect
        label="Kind"
        value={search.kind}
        options={[["image", "Images"], ["video", "Videos"]]}
        onChange={(kind) => set({ kind })}
      />
      <FilterSelect
        label="Plan"
        value={search.plan}
        options={[["studio", "Studio"], ["credits", "Credits"]]}
        onChange={(plan) => set({ plan })}
      />
      <ModelAndKey search={search} onChange={set} />
      <FilterSelect
        label="Created"
        value={search.days}
        options={[["1", "Last 24 hours"], ["7", "Last 7 days"], ["30", "Last 30 days"]]}
        onChange={(days) => set({ days })}
      />
    </div>
  )
}

/** The choice between a list and a gallery, kept in the URL. */
export const JobView = ({ search }: { readonly search: JobSearch }) => {
  const set = useChange()
  return (
    <Segmented
      label="View"
      hideLabel
      value={search.view ?? "list"}
      onChange={(view) => set({ view: view === "grid" ? "grid" : undefined })}
      options={[
        {
          value: "list",
          label: (
            <>
              <Icon name="list" />
              <span className="sr-only">List</span>
            </>
          )
        },
        {
          value: "grid",
          label: (
            <>
              <Icon name="grid" />
              <span className="sr-only">Grid</span>
            </>
          )
        }
      ]}
    />
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Changes the search of the URL without a new entry in the history. */
const useChange = () => {
  const navigate = useNavigate({ from: "/jobs" })
  return (change: Change) => void navigate({ search: (now) => withoutAbsent({ ...now, ...change }), replace: true })
}

/** Searches on Enter and when the text is cleared. */
const PromptSearch = ({ onSearch, text }: {
  readonly text: string | undefined
  readonly onSearch: (text: string | undefined) => void
}) => {
  const [draft, setDraft] = useState(text ?? "")
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onSearch(draft.trim() === "" ? undefined : draft.trim())
      }}
    >
      <input
        type="search"
        aria-label="Search prompts"
        placeholder="Search prompts"
        maxLength={100}
        className="control !w-44 text-sm"
        value={draft}
        onChange={(event) => {
          setDraft(event.target.value)
          if (event.target.value === "") onSearch(undefined)
        }}
      />
    </form>
  )
}

const ModelAndKey = (
  { onChange, search }: { readonly search: JobSearch; readonly onChange: (change: Change) => void }
) => {
  const { data: session } = useQuery(sessionQuery)
  const models = useQuery(modelsQuery)
  const keys = useQuery({ ...keysQuery(null), enabled: session?.scope === "account" })
  return (
    <>
      <FilterSelect
        label="Model"
        value={search.model}
        options={(models.data ?? []).map(({ id, name }) => [id, name] as const)}
        onChange={(model) => onChange({ model })}
      />
      {keys.data !== undefined && (
        <FilterSelect
          label="Key"
          value={search.key}
          options={keys.data.data.map(({ id, name }) => [id, name] as const)}
          onChange={(key) => onChange({ key })}
        />
      )}
    </>
  )
}

const withoutAbsent = (search: Change): JobSearch =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined))
