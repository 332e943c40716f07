enum OriginTestStub {}
