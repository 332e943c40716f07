enum TransformsTestStub {}
