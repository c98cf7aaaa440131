/** Options that several drivers share. */
import * as Driver from "@kinora/generator/Driver"
import { Schema } from "effect"
import * as UpstreamOptions from "../UpstreamOptions.ts"
import { Bindings } from "./bindings.ts"

/** Options of a driver. Each driver has a default for the address. */
export const driverFields = {
  ...UpstreamOptions.fields,
  /** The API key. */
  api_key: Driver.Secret,
  /** The address of the API. */
  base_url: Schema.optionalKey(UpstreamOptions.BaseUrl),
  /** Time between two polls of a job. Default 2 seconds. */
  poll_interval: Schema.optionalKey(Schema.DurationFromString)
}

/** Options of a driver whose upstream can call a URL of each job. */
export const callbackFields = {
  ...driverFields,
  /** Whether the upstream gets the URL, if the host has one. Default `true`. */
  callbacks: Schema.optionalKey(Schema.Boolean)
}

/** Options of a driver for servers that need no API key. Each driver has the address. */
export const serverFields = {
  ...UpstreamOptions.fields,
  /** Sent as `Authorization: Bearer`, also for a server behind a proxy. Default: none. */
  api_key: Schema.optionalKey(Driver.Secret),
  /** Time between two polls of a job. Default 2 seconds. */
  poll_interval: Schema.optionalKey(Schema.DurationFromString)
}

/** Options of a model that is called with named inputs. */
export const inputFields = {
  /** Inputs of every request. */
  input: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  /** Where values of the request go. `to` is the name of an input. `prompt` goes to the input `prompt` unless it is bound. */
  bindings: Schema.optionalKey(Bindings)
}

/** Options of a model that is called by its name with named inputs. */
export const namedModelFields = {
  /** The name or the id of the model at the upstream. */
  model: Schema.NonEmptyString,
  ...inputFields
}
