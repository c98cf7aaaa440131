/** Workflows of ComfyUI with bindings to the inputs of their nodes. */
import type { GenerationRequest } from "@kinora/generator/GenerationRequest"
import { GeneratorError, Permanent } from "@kinora/generator/GeneratorError"
import type { Problem, ServedModel } from "@kinora/generator/ServedModel"
import { Effect, Schema } from "effect"
import { type Binding, bindingProblems, Bindings, boundImages, type BoundInput, isBound } from "./bindings.ts"

/** A workflow in API format: nodes by id. */
const Workflow = Schema.Record(
  Schema.String,
  Schema.Struct({
    class_type: Schema.NonEmptyString,
    inputs: Schema.Record(Schema.String, Schema.Json),
    _meta: Schema.optionalKey(Schema.Json)
  })
)
type Workflow = typeof Workflow.Type

/** Options of a model that is a workflow. */
export const Options = Schema.Struct({
  /** The workflow, as ComfyUI exports it in API format. */
  workflow: Workflow,
  /** Where values of the request go. `to` is the id of a node, a dot and the name of an input: `6.text`. */
  bindings: Bindings,
  /** Id of the node whose file is the result. Default: the first file that a node saved. */
  output_node: Schema.optionalKey(Schema.NonEmptyString)
})
/** Type of `Options`. */
export type Options = typeof Options.Type

/** Returns every reason why a workflow cannot serve a model. */
export const problems = (model: ServedModel, options: Options): ReadonlyArray<Problem> => [
  ...bindingProblems(model, options.bindings),
  ...workflowProblems(options),
  ...imageProblems(model, options)
]

/** Fails if a request has fewer input images than the workflow needs. */
export const checkImages = ({ images }: GenerationRequest, bindings: ReadonlyArray<Binding>) =>
  images.length < boundImages(bindings).size
    ? Effect.fail(new GeneratorError({ reason: tooFewImages }))
    : Effect.void

/** Returns the workflow with values in the inputs of its nodes. */
export const fill = (workflow: Workflow, inputs: ReadonlyArray<BoundInput>): Schema.Json => {
  const nodes = new Map(Object.entries(workflow))
  for (const { to, value } of inputs) {
    const [id, input] = targetOf(to)
    const node = nodes.get(id)
    if (node !== undefined) nodes.set(id, { ...node, inputs: { ...node.inputs, [input]: value } })
  }
  return Object.fromEntries(nodes)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const tooFewImages = new Permanent({
  code: "invalid_input",
  reason: null,
  message: "The model needs more input images."
})

/** Splits `6.text` at its first dot. Names of inputs can contain dots, ids of nodes cannot. */
const targetOf = (to: string): readonly [node: string, input: string] => {
  const dot = to.indexOf(".")
  return dot < 0 ? [to, ""] : [to.slice(0, dot), to.slice(dot + 1)]
}

const workflowProblems = ({ bindings, output_node, workflow }: Options): ReadonlyArray<Problem> => {
  const problem = (path: ReadonlyArray<string | number>, message: string): Problem => ({
    path: ["driver", "options", ...path],
    message
  })
  const hasInput = (to: string) => {
    const [id, input] = targetOf(to)
    return Object.hasOwn(workflow, id) && Object.hasOwn(workflow[id]?.inputs ?? {}, input)
  }
  return [
    ...bindings.flatMap(({ to }, index) =>
      hasInput(to)
        ? []
        : [
          problem(
            ["bindings", index, "to"],
            "must be the id of a node of the workflow, a dot and the name of its input"
          )
        ]
    ),
    ...(isBound(bindings, "prompt") ? [] : [problem(["bindings"], "must have a binding from prompt")]),
    ...(isBound(bindings, "images")
      ? [problem(["bindings"], "must have a binding from image_1, image_2, ... instead of images")]
      : []),
    ...(output_node === undefined || Object.hasOwn(workflow, output_node)
      ? []
      : [problem(["output_node"], "must be the id of a node of the workflow")])
  ]
}

/** A workflow needs all its input images, so it serves either requests with images or requests without. */
const imageProblems = (model: ServedModel, { bindings }: Options): ReadonlyArray<Problem> => {
  const bound = boundImages(bindings).size
  const modes = model.capabilities.flatMap((mode, index) =>
    mode.startsWith("image_to") === bound > 0 ? [] : [{
      path: ["capabilities", index],
      message: bound > 0
        ? "must be a mode with input images, since the workflow has a binding for them"
        : "must be a mode without input images, since the workflow has no binding for them"
    }]
  )
  return model.max_reference_images === bound ? modes : [...modes, {
    path: ["max_reference_images"],
    message: `must be ${bound}, the number of input images that have a binding`
  }]
}
