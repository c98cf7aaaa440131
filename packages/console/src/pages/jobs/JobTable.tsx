/** Jobs as a table, with a selection that can be cancelled. */
import { useMutation } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { type MouseEvent, useRef, useState } from "react"
import { kinora } from "../../api/call.ts"
import type { Generation } from "../../api/types.ts"
import { Notice } from "../../components/Badge.tsx"
import { Button } from "../../components/Button.tsx"
import { costOf, JobStatus, planName } from "../../components/JobStatus.tsx"
import { Elapsed } from "../../components/JobTimeline.tsx"
import { JobTitle } from "../../components/JobTitle.tsx"
import { type Column, Table } from "../../components/Table.tsx"
import { Thumb } from "../../components/Thumb.tsx"
import { MaybeTime, Time } from "../../components/Time.tsx"
import { plural } from "../../format/number.ts"
import { refreshLists } from "../../shell/useJobEvents.ts"

const canCancel = ({ status }: Generation) => status === "pending" || status === "queued"

/** The table. Shift selects a range. */
export const JobTable = ({ jobs }: { readonly jobs: ReadonlyArray<Generation> }) => {
  const { cancel, selected, toggle } = useSelection(jobs)
  const isSelectable = jobs.some(canCancel)
  return (
    <>
      {(selected.length > 0 || cancel.data !== undefined) && (
        <div className="flex flex-wrap items-center justify-between gap-3 border-y border-line bg-raised px-5 py-2 text-sm">
          <span role="status">
            {selected.length > 0 ? `${plural(selected.length, "job")} selected` : cancel.data}
          </span>
          {selected.length > 0 && (
            <Button
              size="sm"
              variant="danger"
              busy={cancel.isPending}
              onClick={() => cancel.mutate(selected)}
            >
              Cancel {plural(selected.length, "job")}
            </Button>
          )}
        </div>
      )}
      {cancel.isError && <Notice title="Jobs could not be cancelled">{cancel.error.message}</Notice>}
      <Table
        label="Jobs"
        rows={jobs}
        rowKey={({ id }) => id}
        columns={isSelectable ? [selectColumn(selected, toggle), ...columns] : columns}
      />
    </>
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const useSelection = (jobs: ReadonlyArray<Generation>) => {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const last = useRef<string>(null)
  const selectable = jobs.filter(canCancel).map(({ id }) => id)
  const selected = selectable.filter((id) => chosen.has(id))
  const toggle = (id: string, isRange: boolean) => {
    const [from, to] = [selectable.indexOf(last.current ?? id), selectable.indexOf(id)]
    const range = isRange && from >= 0 ? selectable.slice(Math.min(from, to), Math.max(from, to) + 1) : [id]
    const next = new Set(chosen)
    for (const one of range) {
      if (chosen.has(id)) next.delete(one)
      else next.add(one)
    }
    last.current = id
    setChosen(next)
  }
  const cancel = useMutation({
    mutationFn: cancelAll,
    onSettled: () => {
      setChosen(new Set())
      refreshLists()
    }
  })
  return { selected, toggle, cancel }
}

/** Cancels jobs and returns a summary. Jobs that started meanwhile are counted, not errors. */
const cancelAll = async (ids: ReadonlyArray<string>): Promise<string> => {
  const results = await Promise.allSettled(ids.map((id) => kinora.generations.cancel(id)))
  const cancelled = results.filter(({ status }) => status === "fulfilled").length
  const rest = results.length - cancelled
  return `${plural(cancelled, "job")} cancelled${rest === 0 ? "" : `, ${rest} had already started`}.`
}

const selectColumn = (
  selected: ReadonlyArray<string>,
  toggle: (id: string, isRange: boolean) => void
): Column<Generation> => ({
  title: <span className="sr-only">Select</span>,
  cell: (job) =>
    canCancel(job) && (
      <input
        type="checkbox"
        aria-label={`Select ${job.prompt ?? job.id}`}
        className="block size-4 accent-ink"
        checked={selected.includes(job.id)}
        onChange={() => undefined}
        onClick={(event: MouseEvent) => toggle(job.id, event.shiftKey)}
      />
    )
})

const columns: ReadonlyArray<Column<Generation>> = [
  {
    title: "Job",
    className: "w-full min-w-72 max-w-0",
    cell: (job) => (
      <Link
        from="/jobs"
        to="/jobs/$id"
        params={{ id: job.id }}
        search={(now) => now}
        resetScroll={false}
        className="group flex items-center gap-3 rounded"
      >
        <Thumb job={job} className="size-9 rounded-md border border-line" />
        <span className="min-w-0">
          <JobTitle prompt={job.prompt} line={job.id} />
        </span>
      </Link>
    )
  },
  { title: "Status", cell: ({ status }) => <JobStatus status={status} /> },
  { title: "Model", cell: ({ model }) => <span className="font-mono text-xs whitespace-nowrap">{model}</span> },
  { title: "Plan", cell: ({ plan }) => planName(plan) },
  {
    title: "Cost",
    isNumber: true,
    cell: (job) => <span className="whitespace-nowrap">{job.refunded ? "Refunded" : costOf(job)}</span>
  },
  { title: "Duration", isNumber: true, cell: (job) => <Elapsed job={job} /> },
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
  { title: "Expires", cell: ({ result_expires_at }) => <MaybeTime at={result_expires_at} /> }
]
