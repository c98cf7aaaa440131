/** The settings of a webhook endpoint: URL, events, secret, status, deletion. */
import { useMutation } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { type ReactNode, useState } from "react"
import { call } from "../../api/call.ts"
import { changeEndpoint } from "../../api/manage.ts"
import { problemOf } from "../../api/problem.ts"
import { queryClient } from "../../api/queries.ts"
import type { Endpoint } from "../../api/types.ts"
import { Notice } from "../../components/Badge.tsx"
import { Button } from "../../components/Button.tsx"
import { FormDialog } from "../../components/Dialog.tsx"
import { Problem } from "../../components/Problem.tsx"
import { SecretDialog } from "../../components/Secret.tsx"
import { Segmented } from "../../components/Segmented.tsx"
import { Time } from "../../components/Time.tsx"
import { type ChosenTypes, TypesField, UrlField } from "./EndpointDialog.tsx"
import { eventTypes, urlProblem } from "./events.ts"

const refresh = (id: string) => {
  void queryClient.invalidateQueries({ queryKey: ["endpoint", id] })
  void queryClient.invalidateQueries({ queryKey: ["endpoints"] })
}

/** The tab. */
export const EndpointSettings = ({ endpoint }: { readonly endpoint: Endpoint }) => (
  <div className="divide-y divide-line">
    <Address endpoint={endpoint} />
    <Status endpoint={endpoint} />
    <Rotation endpoint={endpoint} />
    <Deletion endpoint={endpoint} />
  </div>
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const Section = ({ about, children, title }: {
  readonly title: string
  readonly about: ReactNode
  readonly children: ReactNode
}) => (
  <section className="grid gap-4 p-5 lg:grid-cols-[minmax(0,1fr)_minmax(0,1.4fr)]">
    <div>
      <h2 className="text-base font-semibold">{title}</h2>
      <p className="mt-0.5 text-sm text-muted">{about}</p>
    </div>
    <div className="space-y-4">{children}</div>
  </section>
)

const Address = ({ endpoint }: { readonly endpoint: Endpoint }) => {
  const [url, setUrl] = useState(endpoint.url)
  const [types, setTypes] = useState<ChosenTypes>(
    endpoint.types === null ? null : eventTypes.filter((type) => endpoint.types?.includes(type))
  )
  const save = useMutation({
    mutationFn: () => changeEndpoint(endpoint.id, { url, types }),
    onSuccess: () => refresh(endpoint.id)
  })
  const problem = problemOf(save.error)
  const isAboutUrl = problem.code === "invalid_webhook_url"
  return (
    <Section title="URL and events" about="Pending deliveries use a new URL too.">
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate()
        }}
      >
        <UrlField value={url} onChange={setUrl} error={isAboutUrl ? problem.detail : undefined} />
        <TypesField value={types} onChange={setTypes} />
        {save.isError && !isAboutUrl && <Problem title="The endpoint was not changed" error={save.error} />}
        {save.isSuccess && <Notice tone="positive" title="Changes saved" />}
        <Button
          type="submit"
          variant="primary"
          busy={save.isPending}
          disabled={types?.length === 0 || (url !== endpoint.url && urlProblem(url) !== undefined)}
        >
          Save changes
        </Button>
      </form>
    </Section>
  )
}

const Status = ({ endpoint }: { readonly endpoint: Endpoint }) => {
  const isEnabled = endpoint.status === "enabled"
  const change = useMutation({
    mutationFn: () => changeEndpoint(endpoint.id, { status: isEnabled ? "disabled" : "enabled" }),
    onSuccess: () => refresh(endpoint.id)
  })
  return (
    <Section
      title={isEnabled ? "Disable" : "Enable"}
      about="Events that happen while the endpoint is disabled are not sent later."
    >
      <Button variant={isEnabled ? "danger" : "primary"} busy={change.isPending} onClick={() => change.mutate()}>
        {isEnabled ? "Disable endpoint" : "Enable endpoint"}
      </Button>
      {change.isError && <Problem title="The endpoint was not changed" error={change.error} />}
    </Section>
  )
}

const Rotation = ({ endpoint }: { readonly endpoint: Endpoint }) => {
  const [overlap, setOverlap] = useState(3_600)
  const rotate = useMutation({
    mutationFn: () =>
      call("POST /console/v1/webhook-endpoints/:id/rotate", {
        params: { id: endpoint.id },
        payload: { overlap_seconds: overlap }
      }),
    onSuccess: () => refresh(endpoint.id)
  })
  return (
    <Section
      title="Secret"
      about={
        <>
          Created <Time at={endpoint.secret_created_at} />. During the overlap, both secrets sign.
        </>
      }
    >
      <div className="max-w-sm">
        <Segmented
          label="The former secret ends"
          value={overlap}
          onChange={setOverlap}
          options={[{ value: 0, label: "Now" }, { value: 3_600, label: "In 1 hour" }, {
            value: 86_400,
            label: "In 24 hours"
          }]}
        />
      </div>
      <Button busy={rotate.isPending} onClick={() => rotate.mutate()}>Rotate secret</Button>
      {rotate.isError && <Problem title="The secret was not rotated" error={rotate.error} />}
      {rotate.data !== undefined && (
        <SecretDialog
          title="The new secret"
          what="secret"
          secret={rotate.data.secret}
          examples={[{ label: ".env", text: `KINORA_WEBHOOK_SECRET=${rotate.data.secret}` }]}
          onClose={rotate.reset}
        />
      )}
    </Section>
  )
}

const Deletion = ({ endpoint }: { readonly endpoint: Endpoint }) => {
  const [isAsking, setAsking] = useState(false)
  const navigate = useNavigate()
  const remove = useMutation({
    mutationFn: () => call("DELETE /console/v1/webhook-endpoints/:id", { params: { id: endpoint.id } }),
    onSuccess: async () => {
      await navigate({ to: "/webhooks" })
      void queryClient.invalidateQueries({ queryKey: ["endpoints"] })
    }
  })
  return (
    <Section title="Delete" about="Deletes the deliveries and attempts of the endpoint too.">
      <Button variant="danger" onClick={() => setAsking(true)}>Delete endpoint</Button>
      {isAsking && (
        <FormDialog
          title="Delete this endpoint?"
          submit="Delete endpoint"
          tone="danger"
          change={remove}
          onClose={() => setAsking(false)}
        >
          <p className="text-muted break-words">No more events are sent to {endpoint.url}.</p>
        </FormDialog>
      )}
    </Section>
  )
}
