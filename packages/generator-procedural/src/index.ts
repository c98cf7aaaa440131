export * as PictureSize from "./PictureSize.ts"
export * as ProceduralGenerator from "./ProceduralGenerator.ts"
