/** The parts of the API for probes and monitoring. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { field, object } from "./internal/fields.ts"
import { operation } from "./internal/operation.ts"
import * as Policy from "./RequestPolicy.ts"

const state = <const State extends string>(identifier: string, state: State, description: string) =>
  object(identifier, description, { status: field(Schema.Literal(state), `Always \`${state}\`.`) })

/** The probe that every listener has. It requires no authentication. */
export class Health extends HttpApiGroup.make("health").add(
  operation(
    {
      policy: Policy.open,
      summary: "Check that the process runs",
      description: "200 while the process is up, whatever the state of the database."
    },
    (error) =>
      HttpApiEndpoint.get("live", "/healthz", {
        success: object("Live", "The process runs.", { status: field(Schema.Literal("ok"), "Always `ok`.") }),
        error
      })
  )
).annotate(OpenApi.Description, "Whether the process runs. Requires no authentication.") {}

/** Readiness and metrics, for load balancers and monitoring. They require no authentication, but a listener that the public does not reach. */
export class Monitoring extends HttpApiGroup.make("monitoring").add(
  operation(
    {
      policy: Policy.open,
      errors: ["unavailable"],
      summary: "Check that the service accepts requests",
      description: "503 names the parts that are not ready in `details.not_ready`: `database`, `storage`, `draining`."
    },
    (error) =>
      HttpApiEndpoint.get("ready", "/readyz", {
        success: state("Ready", "ready", "The service accepts requests."),
        error
      })
  ),
  operation(
    {
      policy: Policy.open,
      errors: ["not_found"],
      summary: "Get metrics",
      description: "Prometheus text: totals of this server, without account data. 404 if metrics are disabled."
    },
    (error) =>
      HttpApiEndpoint.get("metrics", "/metrics", { success: Schema.String.pipe(HttpApiSchema.asText()), error })
  )
).annotate(
  OpenApi.Description,
  "Readiness and metrics, on the listener for operators. They require no authentication."
) {}
