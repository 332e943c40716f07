// The library's one import: pipeline, transforms, stores and origins with the values that they take and return, and the
// URLs of a server.
@_exported public import DarkroomCache
@_exported public import DarkroomHTTPCaching
@_exported public import DarkroomMachine
@_exported public import DarkroomNetwork
@_exported public import DarkroomOrigin
@_exported public import DarkroomPipeline
@_exported public import DarkroomQuery
@_exported public import DarkroomStore
@_exported public import DarkroomTransforms
@_exported public import DarkroomVips
