// The only import that users of the library need: pipeline, transforms, stores and origins with their parameter and
// result types, and the URLs of a server.
@_exported public import DarkroomCache
@_exported public import DarkroomHTTPCaching
@_exported public import DarkroomLoading
@_exported public import DarkroomMachine
@_exported public import DarkroomNetwork
@_exported public import DarkroomOrigin
@_exported public import DarkroomPipeline
@_exported public import DarkroomQuery
@_exported public import DarkroomRequests
@_exported public import DarkroomStore
@_exported public import DarkroomTransforms
@_exported public import DarkroomVips
