enum HTTPCachingTestStub {}
