-- Nearly all calls end here.

local plainReply = plainStep(0, 2)
if plainReply then return plainReply end
