enum StoreTestStub {}
